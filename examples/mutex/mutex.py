"""Two threads that are meant to take turns in a critical section: P2 hands over too early.

The trace beside this file is the run of Figure 1.2 of Sen's thesis, with the lines of this program.
"""

import queue
import threading

critical = {"P1": False, "P2": False}


def enter(name: str) -> str:
    critical[name] = True
    return name


def leave(name: str) -> None:
    critical[name] = False


def first(turn: "queue.Queue[str]") -> None:
    print("P1 starts")
    turn.get()
    enter("P1")


def second(turn: "queue.Queue[str]") -> None:
    print("P2 starts")
    turn.put(enter("P2"))
    leave("P2")


if __name__ == "__main__":
    channel: "queue.Queue[str]" = queue.Queue()
    threads = [threading.Thread(target=work, args=(channel,)) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
