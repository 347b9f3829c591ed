"""An index that is rebuilt from documents while these change: a word of the version before stays in it."""

import threading


class Documents:
    def __init__(self):
        self.lock = threading.Lock()
        self.texts = {"a": "red fox", "b": "blue sky", "c": "red sky"}
        self.versions = dict.fromkeys(self.texts, 0)

    def change(self, name, text):
        with self.lock:
            self.texts[name] = text
            self.versions[name] += 1

    def read(self, name):
        with self.lock:
            return self.texts[name], self.versions[name]


class Index:
    def __init__(self, documents):
        self.documents = documents
        self.lock = threading.Lock()
        self.words = {}
        self.entered = {}

    def enter(self, name):
        text, version = self.documents.read(name)
        with self.lock:
            for words in self.words.values():
                words.discard(name)
            for word in text.split():
                self.words.setdefault(word, set()).add(name)
            self.entered[name] = version

    def find(self, word):
        with self.lock:
            return sorted(self.words.get(word, ()))


documents = Documents()
index = Index(documents)


def rebuild():
    for name in ("a", "b", "c"):
        index.enter(name)


def edit(name, text):
    documents.change(name, text)
    index.enter(name)


threads = [threading.Thread(target=rebuild)]
threads += [threading.Thread(target=edit, args=each) for each in (("c", "grey sea"), ("b", "blue sea"))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert index.find("sea") == ["b", "c"], index.words
assert index.find("red") == ["a"], index.words
