"""Values that are computed once while others wait: if that fails, those who came late wait for ever."""

import threading


class Once:
    def __init__(self):
        self.lock = threading.Lock()
        self.values = {}
        self.running = {}

    def get(self, key, compute):
        with self.lock:
            if key in self.values:
                return self.values[key]
            event = self.running.get(key)
            is_first = event is None
            if is_first:
                event = self.running[key] = threading.Event()
        if not is_first:
            event.wait()
            return self.values.get(key)
        try:
            value = compute(key)
        except ValueError:
            with self.lock:
                del self.running[key]
            return None
        with self.lock:
            self.values[key] = value
            del self.running[key]
        event.set()
        return value


once = Once()
attempts = []


def compute(key):
    attempts.append(key)
    if key == "bad":
        raise ValueError(key)
    return key.upper()


def client(keys):
    for key in keys:
        once.get(key, compute)


PLANS = [["good", "fine"], ["fine", "bad"], ["good", "bad"]]
threads = [threading.Thread(target=client, args=(keys,)) for keys in PLANS]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
