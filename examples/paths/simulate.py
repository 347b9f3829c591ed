"""Writes the runs of this folder: three classic programs, executed under a random schedule.

    python simulate.py queue --seed 1 > race.jsonl            figure 5-1, without P(s) in the producer
    python simulate.py queue --corrected --seed 1 > fixed.jsonl
    python simulate.py philosophers --seed 3 > deadlock.jsonl
    python simulate.py polite --seed 1 > starvation.jsonl     everybody takes a fork and puts it back

Every program is a list of generators, one a thread; a thread yields its next event and, before it, the
semaphore or fork that it has to wait for.
"""

import argparse
import json
import random


class World:
    def __init__(self, tokens):
        self.tokens = dict(tokens)
        self.lines = []

    def emit(self, process, **fields):
        self.lines.append({"p": process, **fields})


def enter(name, argument=None):
    return {"kind": "enter", "fn": name, **({"msg": argument} if argument else {})}


def leave(name, argument=None):
    return {"kind": "exit", "fn": name, **({"msg": argument} if argument else {})}


def down(semaphore):
    yield None, enter("P", semaphore)
    yield semaphore, leave("P", semaphore)


def up(semaphore):
    yield None, enter("V", semaphore)
    yield "+" + semaphore, leave("V", semaphore)


def call(name):
    yield None, enter(name)
    yield None, leave(name)


def producer(items, corrected):
    for _ in range(items):
        if corrected:
            yield from down("s")
        yield from call("enqueue")
        yield from up("s")
        yield from up("deposited")


def consumer(items):
    for _ in range(items):
        yield from down("deposited")
        yield from down("s")
        yield from call("dequeue")
        yield from up("s")


def philosopher(left, right, meals):
    for _ in range(meals):
        for fork in (left, right):
            yield None, {"kind": "request", "msg": fork}
            yield fork, {"kind": "acquire", "msg": fork}
        yield None, {"label": "eat"}
        for fork in (left, right):
            yield "+" + fork, {"kind": "release", "msg": fork}


def polite(left, rounds):
    for _ in range(rounds):
        yield left, {"label": "pick", "set": {"held": 1}}
        yield "+" + left, {"label": "put", "set": {"held": 0}}


def run(threads, tokens, chooser):
    """One event at a time until no thread can move: at the end, or in a deadlock."""
    world = World(tokens)
    following = {name: next(thread, None) for name, thread in threads.items()}
    while True:
        able = [
            name
            for name, step in following.items()
            if step and (step[0] is None or step[0][0] == "+" or world.tokens[step[0]] > 0)
        ]
        if not able:
            return world.lines
        name = chooser.choice(able)
        needed, event = following[name]
        if needed is not None:
            world.tokens[needed.lstrip("+")] += 1 if needed[0] == "+" else -1
        world.emit(name, **event)
        following[name] = next(threads[name], None)


def program(name, corrected, size):
    if name == "queue":
        threads = {"producer": producer(size, corrected), "consumer": consumer(size)}
        return threads, {"s": 1, "deposited": 0}
    seats = range(3)
    forks = {f"fork{seat}": 1 for seat in seats}
    ways = {seat: [f"fork{seat}", f"fork{(seat + 1) % 3}"] for seat in seats}
    if name == "polite":
        return {f"Phil{seat}": polite(ways[seat][0], size) for seat in seats}, forks
    if corrected:
        ways = {seat: sorted(pair) for seat, pair in ways.items()}
    return {f"Phil{seat}": philosopher(*ways[seat], size) for seat in seats}, forks


def trace(name, corrected=False, seed=1, size=3):
    """The lines of a run as dictionaries, the header first."""
    threads, tokens = program(name, corrected, size)
    init = {"held": 0} if name == "polite" else {}
    processes = [{"name": thread, "init": dict(init)} for thread in threads]
    header = {"format": "possibly-trace", "version": 1, "processes": processes, "shared": {}}
    return [header, *run(threads, tokens, random.Random(seed))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", choices=("queue", "philosophers", "polite"))
    parser.add_argument("--corrected", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--size", type=int, default=3)
    arguments = parser.parse_args()
    for line in trace(arguments.program, arguments.corrected, arguments.seed, arguments.size):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
