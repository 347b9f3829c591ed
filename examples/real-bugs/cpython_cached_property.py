"""Two objects that need each other's cached property: one lock for all instances of the class."""
# WRONG with CPython 3.11

import threading
from functools import cached_property


class Page:
    def __init__(self):
        self.asked = threading.Event()
        self.other = None

    @cached_property
    def text(self):
        self.asked.set()
        self.other.asked.wait()
        return "text"


one, other = Page(), Page()
one.other, other.other = other, one
threads = [threading.Thread(target=lambda each=each: each.text) for each in (one, other)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
