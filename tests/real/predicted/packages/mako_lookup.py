"""mako loads a template under the lock of its lookup, with the preprocessor of the program; it loads under a lock of its own."""

import os
import tempfile
import threading
import time

from mako.lookup import TemplateLookup

folder = tempfile.mkdtemp()
for name in ("a", "b"):
    with open(os.path.join(folder, name), "w") as file:
        file.write(name)
lock, texts = threading.Lock(), []


def noted(text):
    if text == "a":
        with lock:
            texts.append(text)
    return text


lookup = TemplateLookup([folder], preprocessor=noted)


def show():
    lookup.get_template("a")


def list_all():
    with lock:
        lookup.get_template("b")


threads = [threading.Thread(target=show, name="show"), threading.Thread(target=list_all, name="list")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
