"""A product of matrices by ranks of MPI: the master hands out blocks of rows, whoever is free gets the next.

mpiexec -n 4 python examples/matrix-product/product.py [wrong|right] [ROWS] [BLOCK]
possibly explore --mpi 4 --first examples/matrix-product/product.py [wrong|right] [ROWS] [BLOCK]

    master  --Work(block, rows)-->  worker       the rows of A that it is to multiply by B
    master  <--Result(block, rows)--  worker     the same rows of the product
    master  --Stop-->  worker

Load is balanced as it goes: a worker gets its next block when its last result has come, so a slow one gets
fewer. At the end the slow ones would keep everybody waiting. So a worker for which nothing is left gets a
second copy of a block that another one still has (a *backup task*), and whichever result comes first counts.

The order bug is planted there. The master counts results, and takes the product for finished when as many
have come as there are blocks. As long as every worker is about as fast as the others no copy is made, and the
count is right. With a copy, the result of the slow worker comes too, later: it is counted as well, for a
block that nobody has done yet. The product has a hole, and no error says so.

The corrected form counts blocks that are there for the first time, and lets the results of copies that come
late go by.
"""

import sys
from collections import deque
from dataclasses import dataclass, field

from mpi4py import MPI

import possibly

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "wrong"
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
BLOCK = int(sys.argv[3]) if len(sys.argv) > 3 else 1
COLUMNS = 2
MASTER, WORK, RESULT, STOP = 0, 1, 2, 3

Matrix = list[list[int]]


# ---- messages -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """To a worker: multiply these rows."""

    block: int
    rows: Matrix


@dataclass(frozen=True)
class Result:
    """To the master: the rows of the product."""

    block: int
    rows: Matrix


# ---- matrices -----------------------------------------------------------------------------------


def left(rows: int) -> Matrix:
    return [[row + column for column in range(COLUMNS)] for row in range(rows)]


def right() -> Matrix:
    return [[row * column + 1 for column in range(COLUMNS)] for row in range(COLUMNS)]


def multiplied(rows: Matrix, by: Matrix) -> Matrix:
    columns = list(zip(*by, strict=True))
    return [[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in rows]


def blocks_of(matrix: Matrix, size: int) -> list[Work]:
    starts = range(0, len(matrix), size)
    return [Work(number, matrix[start : start + size]) for number, start in enumerate(starts)]


def shown(matrix: Matrix) -> str:
    """A line for each row."""
    return "\n".join(" ".join(f"{each:>4}" for each in row) for row in matrix)


# ---- the master ---------------------------------------------------------------------------------


@dataclass
class Plan:
    """What is to do, who does it, and what has come."""

    waiting: deque[Work]
    all: list[Work]
    at_work: dict[int, Work] = field(default_factory=dict)
    """Worker -> the block that it has."""
    done: dict[int, Matrix] = field(default_factory=dict)
    """Block -> its rows of the product."""
    finished: int = 0

    @property
    def is_complete(self) -> bool:
        return self.finished == len(self.all)

    @property
    def missing(self) -> int:
        return len(self.all) - len(self.done)

    def next_for(self, worker: int) -> Work | None:
        """The next block, else a copy of one that somebody still has."""
        if self.waiting:
            return self.waiting.popleft()
        return self.backup(worker)

    def backup(self, worker: int) -> Work | None:
        copied = [work.block for work in self.at_work.values()]
        for other, work in sorted(self.at_work.items()):
            is_open = work.block not in self.done and copied.count(work.block) == 1
            if other != worker and is_open:
                return work
        return None

    def take(self, worker: int, result: Result) -> None:
        del self.at_work[worker]
        is_new = result.block not in self.done
        if is_new:
            self.done[result.block] = result.rows
        if is_new or VARIANT == "wrong":
            self.finished += 1


def hand_out(world: MPI.Intracomm, plan: Plan, worker: int) -> None:
    work = plan.next_for(worker)
    if work is not None:
        plan.at_work[worker] = work
        world.send(work, worker, tag=WORK)


def received(world: MPI.Intracomm, plan: Plan) -> int:
    """The next result, whoever it is from; that worker is free now."""
    status = MPI.Status()
    result = world.recv(source=MPI.ANY_SOURCE, tag=RESULT, status=status)
    worker: int = status.Get_source()
    plan.take(worker, result)
    return worker


def master(world: MPI.Intracomm) -> Matrix:
    blocks = blocks_of(left(ROWS), BLOCK)
    plan = Plan(deque(blocks), blocks)
    is_over, missing = False, plan.missing
    possibly.claim("G(rank0.is_over -> rank0.missing == 0) & F rank0.is_over")
    for worker in range(1, world.Get_size()):
        hand_out(world, plan, worker)
    while not plan.is_complete:
        worker = received(world, plan)
        if not plan.is_complete:
            hand_out(world, plan, worker)
    is_over, missing = True, plan.missing
    stop(world, plan)
    print(f"{missing} of {len(blocks)} blocks are missing, over: {is_over}")
    return [row for block in sorted(plan.done) for row in plan.done[block]]


def stop(world: MPI.Intracomm, plan: Plan) -> None:
    """Nobody is left at work, and no result is left under way: copies that come late are thrown away."""
    while plan.at_work:
        received(world, plan)
    for worker in range(1, world.Get_size()):
        world.send(None, worker, tag=STOP)


# ---- a worker -----------------------------------------------------------------------------------


def worker(world: MPI.Intracomm) -> int:
    """How many blocks it did."""
    matrix, done, status = right(), 0, MPI.Status()
    while True:
        work = world.recv(source=MASTER, tag=MPI.ANY_TAG, status=status)
        if status.Get_tag() == STOP:
            return done
        world.send(Result(work.block, multiplied(work.rows, matrix)), MASTER, tag=RESULT)
        done += 1


# ---- all of them --------------------------------------------------------------------------------


def main() -> None:
    world = MPI.COMM_WORLD
    if world.Get_size() < 2:
        raise SystemExit("there is nobody to work: start it under mpiexec, with -n 2 or more")
    if world.Get_rank() == MASTER:
        found = master(world)
        print(shown(found))
        if VARIANT == "right":
            assert found == multiplied(left(ROWS), right())
    else:
        worker(world)


if __name__ == "__main__":
    main()
