"""Words of a text counted by processes: a master hands out chunks, workers map them, a reducer adds up.

possibly explore --macro examples/map-reduce/words.py [wrong|right] [WORKERS] [CHUNKS]

    master  --chunk-->  worker  --counts-->  reducer
    master  <--ready--  worker
    master  ------------------ end -------> reducer  --total--> main

Load is balanced by asking: a worker that is ready says so and gets the next chunk, so that a slow one gets
fewer. When all chunks are handed out and every worker has said that it is ready again, all chunks are mapped,
and the master tells the reducer that this is the end.

The order bug is planted there. Every worker has sent its counts *before* it said that it is ready; the master
knows that; and yet the end may overtake them. They come from two processes, and what a process puts into a
queue of `multiprocessing` is written by a thread of its own, some time later. Nothing orders the counts of a
worker and the end of the master but the hope that pipes are quick, and on an idle machine they are.

The corrected form lets the end say how many chunks there are, and the reducer waits for as many.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from multiprocessing import Process, Queue

import possibly

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "wrong"
WORKERS = int(sys.argv[2]) if len(sys.argv) > 2 else 1
CHUNKS = int(sys.argv[3]) if len(sys.argv) > 3 else 2
TEXT = "the cat and the dog and the bird saw the fish and the cat saw the bird"


# ---- messages -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chunk:
    """To a worker: map this."""

    number: int
    words: tuple


@dataclass(frozen=True)
class Stop:
    """To a worker: there is nothing more to do."""


@dataclass(frozen=True)
class Ready:
    """To the master: give me something to do."""

    worker: int


@dataclass(frozen=True)
class Counts:
    """To the reducer: what a chunk contains."""

    chunk: int
    counts: dict


@dataclass(frozen=True)
class End:
    """To the reducer: so many chunks were handed out, and all are mapped."""

    chunks: int


# ---- processes ----------------------------------------------------------------------------------


def chunks_of(text, many):
    """The words of a text in so many chunks of about the same size."""
    words = text.split()
    size = -(-len(words) // many)
    parts = [tuple(words[begin : begin + size]) for begin in range(0, len(words), size)]
    return [Chunk(number, part) for number, part in enumerate(parts)]


def worker(number, work, inbox, results):
    """Asks for chunks and maps them until it is told to stop."""
    mapped = 0
    inbox.put(Ready(number))
    while True:
        message = work.get()
        if isinstance(message, Stop):
            return
        results.put(Counts(message.number, dict(Counter(message.words))))
        mapped += 1
        inbox.put(Ready(number))


def master(chunks, work, inbox, results):
    """Hands out chunks to whoever is ready; in the end it stops everybody."""
    left = list(chunks)
    stopped = 0
    while stopped < WORKERS:
        ready = inbox.get()
        if left:
            work[ready.worker].put(left.pop(0))
        else:
            work[ready.worker].put(Stop())
            stopped += 1
    results.put(End(len(chunks)))


def is_over(end, seen):
    """Whether the reducer has heard all there is."""
    if end is None:
        return False
    return VARIANT != "right" or seen == end.chunks


def reducer(results, answer):
    """Adds up the counts of all chunks."""
    total, seen, end = Counter(), 0, None
    while not is_over(end, seen):
        message = results.get()
        if isinstance(message, End):
            end = message
        else:
            total.update(message.counts)
            seen += 1
    words = sum(total.values())
    answer.put((words, dict(total)))  #: answered


# ---- what must be true --------------------------------------------------------------------------


@possibly.predicate
def nothing_is_lost(state):
    """Once the reducer has answered, every chunk is in the answer."""
    if "reducer" not in state or not state.at("reducer", "answered"):
        return True
    return state.reducer.seen == CHUNKS


# ---- the report ---------------------------------------------------------------------------------


def counted_alone(text):
    """What one process counts that does everything itself."""
    return Counter(text.split())


def most_frequent(counts, most=3):
    """The words that are there most often, and how often; of equally frequent ones the first by letters."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ordered[:most]


def lost(counts, text):
    """The words of the text that are in no count, or in too few."""
    missing = counted_alone(text) - Counter(counts)
    return sorted(missing)


def report(words, counts):
    """What a user of the service reads; it says nothing of which chunk a loss comes from."""
    lines = [f"{words} words, {len(counts)} different ones"]
    lines += [f"  {word:<8} {count}" for word, count in most_frequent(counts)]
    if missing := lost(counts, TEXT):
        lines.append(f"  lost: {', '.join(missing)}")
    return "\n".join(lines)


def check_arguments():
    """A sentence and no traceback for what makes no sense."""
    if VARIANT not in ("wrong", "right"):
        raise SystemExit(f"{VARIANT} is no form of this program: wrong or right")
    if WORKERS < 1 or CHUNKS < 1:
        raise SystemExit("there is nothing to count, or nobody who does")


def main():
    check_arguments()
    chunks = chunks_of(TEXT, CHUNKS)
    inbox, results, answer = Queue(), Queue(), Queue()
    work = [Queue() for _ in range(WORKERS)]
    processes = [
        Process(target=master, args=(chunks, work, inbox, results), name="master"),
        Process(target=reducer, args=(results, answer), name="reducer"),
    ]
    for number in range(WORKERS):
        arguments = (number, work[number], inbox, results)
        processes.append(Process(target=worker, args=arguments, name=f"worker{number}"))
    possibly.claim("G nothing_is_lost")
    for process in processes:
        process.start()
    words, counts = answer.get()
    for process in processes:
        process.join()
    print(report(words, counts))


if __name__ == "__main__":
    main()
