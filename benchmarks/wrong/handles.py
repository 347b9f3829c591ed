"""Handles that are counted: the last one out closes the file, while another comes in."""

import threading


class File:
    def __init__(self, path):
        self.path = path
        self.is_open = True
        self.lines = []

    def write(self, line):
        assert self.is_open, f"{self.path} is closed"
        self.lines.append(line)


class Files:
    def __init__(self):
        self.lock = threading.Lock()
        self.open_files = {}
        self.users = {}

    def acquire(self, path):
        with self.lock:
            if path not in self.open_files:
                self.open_files[path] = File(path)
                self.users[path] = 0
            file = self.open_files[path]
        with self.lock:
            self.users[path] = self.users.get(path, 0) + 1
        return file

    def release(self, path):
        with self.lock:
            self.users[path] -= 1
            if not self.users[path]:
                file = self.open_files.pop(path)
                file.is_open = False


files = Files()


def writer(number):
    for each, path in enumerate(["a.log", "b.log"]):
        file = files.acquire(path)
        file.write(f"{number}: {each}")
        files.release(path)


threads = [threading.Thread(target=writer, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
