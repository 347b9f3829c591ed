"""Producer, buffer and consumer as MPI ranks that shake hands: `ssend` returns when it was received.

possibly explore --macro --mpi 3 examples/macro/ranks.py [right|lossy|stuck] [ITEMS] [CAPACITY]
"""

import sys

from mpi4py import MPI

import possibly

PRODUCER, BUFFER, CONSUMER = range(3)
VARIANT = sys.argv[1] if len(sys.argv) > 1 else "right"
ITEMS = int(sys.argv[2]) if len(sys.argv) > 2 else 3
CAPACITY = int(sys.argv[3]) if len(sys.argv) > 3 else 2


@possibly.predicate
def no_lost_message(s):
    return s.rank1.number == s.rank0.count - s.rank2.count


@possibly.predicate
def empty(s):
    return s.rank1.number == 0


def producer(world):
    count = 0
    while count < ITEMS:
        world.ssend(count, BUFFER)
        count += 1


def consumer(world, wanted):
    count = 0
    while count < wanted:
        world.ssend(None, BUFFER)
        world.recv(source=BUFFER)
        count += 1


def buffer(world, wanted):
    items, number = [], 0
    for _ in range(ITEMS + wanted):
        source = MPI.ANY_SOURCE
        if number == 0:
            source = PRODUCER
        elif number == CAPACITY and VARIANT != "lossy":
            source = CONSUMER
        status = MPI.Status()
        item = world.recv(source=source, status=status)
        if status.Get_source() == CONSUMER:
            world.ssend(items.pop(0), CONSUMER)
            number -= 1
        elif number < CAPACITY:
            items.append(item)
            number += 1


def main():
    world = MPI.COMM_WORLD
    wanted = ITEMS - 1 if VARIANT == "stuck" else ITEMS
    possibly.claim("G(no_lost_message) & G(!empty -> F empty)")
    if world.Get_rank() == PRODUCER:
        producer(world)
    elif world.Get_rank() == BUFFER:
        buffer(world, wanted)
    else:
        consumer(world, wanted)


main()
