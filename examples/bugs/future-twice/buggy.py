"""A reply and a time-out both want to resolve one future; each looks first."""

import threading
from concurrent.futures import Future

answer = Future()


def reply(value):
    if not answer.done():
        answer.set_result(value)


threads = [threading.Thread(target=reply, args=(value,), name=value) for value in ("reply", "time-out")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert answer.result() in ("reply", "time-out")
