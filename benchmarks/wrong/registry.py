"""A registry that makes services when they are first asked for: one is there before it is open."""

import threading


class Service:
    made = 0

    def __init__(self, name, needs):
        Service.made += 1
        self.name = name
        self.needs = needs
        self.is_open = False

    def open(self):
        self.is_open = True


class Registry:
    def __init__(self):
        self.lock = threading.Lock()
        self.services = {}
        self.recipes = {"log": [], "store": ["log"], "mail": ["log"], "shop": ["store", "mail"]}

    def get(self, name):
        if name in self.services:
            return self.services[name]
        needs = [self.get(need) for need in self.recipes[name]]
        with self.lock:
            if name not in self.services:
                service = Service(name, needs)
                self.services[name] = service
                service.open()
            return self.services[name]


registry = Registry()
answers = {}


def client(number, name):
    service = registry.get(name)
    answers[number] = service.is_open and all(need.is_open for need in service.needs)


threads = [
    threading.Thread(target=client, args=(number, name))
    for number, name in enumerate(["shop", "store", "mail", "shop"])
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert all(answers.values()), answers
assert Service.made == 4
