"""Two threads call one multimethod, each with a type that it has not seen."""
# WRONG with multimethod==1.9, RIGHT with multimethod==1.9.1

import threading

from multimethod import multimethod


@multimethod
def describe(value: int):
    return "a number"


@multimethod
def describe(value: str):  # noqa: F811
    return "a text"


class Name(str):
    pass


answers = []
threads = [
    threading.Thread(target=lambda each=each: answers.append(describe(each))) for each in (True, Name("x"))
]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert sorted(answers) == ["a number", "a text"], answers
