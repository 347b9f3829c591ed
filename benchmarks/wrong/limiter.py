"""A limiter of requests in flight whose waiting list and counter are changed in two critical sections."""

import threading

CLIENTS, LIMIT = 5, 2


class Limiter:
    def __init__(self, limit):
        self.limit = limit
        self.lock = threading.Lock()
        self.active = 0
        self.waiting = []
        self.served = 0

    def enter(self):
        with self.lock:
            room = self.active < self.limit
        if room:
            with self.lock:
                self.active += 1
            return True
        mine = threading.Event()
        with self.lock:
            if self.active == 0:
                self.active += 1
                return True
            self.waiting.append(mine)
        mine.wait()
        return True

    def leave(self):
        with self.lock:
            self.served += 1
            if self.waiting:
                self.waiting.pop(0).set()
            else:
                self.active -= 1


limiter = Limiter(LIMIT)
inside = 0
guard = threading.Lock()


def client(number):
    global inside
    limiter.enter()
    with guard:
        inside += 1
        assert inside <= LIMIT, f"{inside} requests at a time"
    with guard:
        inside -= 1
    limiter.leave()


threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
