"""Producer, buffer and consumer as threads with queues.

possibly explore --macro examples/macro/threads.py [right|lossy|stuck] [ITEMS] [CAPACITY]

The buffer receives items and requests from one queue, so its order is the nondeterminism. The producer waits
for room, except in the lossy variant; a buffer that is full drops what it gets.
"""

import sys
from queue import Queue
from threading import Thread

import possibly

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "right"
ITEMS = int(sys.argv[2]) if len(sys.argv) > 2 else 2
CAPACITY = int(sys.argv[3]) if len(sys.argv) > 3 else 1


@possibly.predicate
def no_lost_message(s):
    sent, received = s.Producer.count, len(s.Consumer.received)
    return len(s.Buffer.items) + s.transit("Producer") + s.transit("Buffer") == sent - received


@possibly.predicate
def empty(s):
    return not s.Buffer.items


def producer(inbox, room):
    count = 0
    while count < ITEMS:
        if VARIANT != "lossy":
            room.get()
        count += 1
        inbox.put(count)


def consumer(inbox, output, room, wanted):
    received = []
    while len(received) < wanted:
        inbox.put(None)
        received.append(output.get())
        room.put("room")


def accepted(message, items, requests):
    if message is None:
        return items, requests + 1
    return ([*items, message] if len(items) < CAPACITY else items), requests


def buffer(inbox, output, wanted):
    items, requests = [], 0
    for _ in range(ITEMS + wanted):
        items, requests = accepted(inbox.get(), items, requests)
        if items and requests:
            requests -= 1
            output.put(items.pop(0))


def main(kind=Thread, queue=Queue):
    inbox, output, room = queue(), queue(), queue()
    for _ in range(CAPACITY):
        room.put("room")
    wanted = ITEMS - 1 if VARIANT == "stuck" else ITEMS
    workers = [
        kind(target=producer, args=(inbox, room), name="Producer"),
        kind(target=buffer, args=(inbox, output, wanted), name="Buffer"),
        kind(target=consumer, args=(inbox, output, room, wanted), name="Consumer"),
    ]
    for worker in workers:
        worker.start()
    possibly.claim("G(no_lost_message) & G(!empty -> F empty)")
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
