"""injector makes singletons under a lock of all; the program asks for one under its own lock."""

import threading
import time

from injector import Injector, Module, provider, singleton

lock = threading.Lock()


class Settings:
    pass


class Parts(Module):
    @singleton
    @provider
    def settings(self) -> Settings:
        with lock:
            return Settings()


parts = Injector(Parts())


def start():
    parts.get(Settings)


def reload():
    with lock:
        other.get(Settings)


class Plain(Module):
    @singleton
    @provider
    def settings(self) -> Settings:
        return Settings()


other = Injector(Plain())
threads = [threading.Thread(target=start, name="start"), threading.Thread(target=reload, name="reload")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
