"""A distributed lock service: clients write to a store while they hold the lock that a server leases to them.

possibly explore --macro examples/lock-service/leases.py [wrong|right] [CLIENTS]

    client  --acquire-->  server  --granted (number)-->  client
    client  --write (number, value)-->  store  --stored or refused-->  client
    keeper  --expired-->  server

The server grants the lock to one client at a time. A client may be slow, or be gone for ever, so a lease ends
by itself: a keeper, which stands for the clock, tells the server that it has expired, and the server grants
the lock to the next in line. Each grant has a number, one higher than the one before.

The order bug is planted in `Store`: it writes whatever comes. A client whose lease has expired does not know
that yet; its write may still be under way when the next client has the lock and has written. Then the late
write comes on top: two clients have written as if each were alone, and the older value stays. The server is
right, each client asks before it writes, and still the lock locks nothing.

The corrected form lets the store look at the number: it refuses a write whose number is lower than one that
it has seen (a fencing token). A client that is refused knows that its lease is over.
"""

import queue
import sys
import threading
from dataclasses import dataclass
from string import ascii_lowercase

import possibly

VARIANT = sys.argv[1] if len(sys.argv) > 1 else "wrong"
CLIENTS = int(sys.argv[2]) if len(sys.argv) > 2 else 2


# ---- messages -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Acquire:
    """To the server: I want the lock."""

    client: str
    answer: queue.Queue


@dataclass(frozen=True)
class Expired:
    """To the server: the lease of this grant is over, whatever its client does."""

    number: int


@dataclass(frozen=True)
class Granted:
    """To a client: the lock is yours."""

    number: int


@dataclass(frozen=True)
class Write:
    """To the store: write this, by the right of that grant."""

    number: int
    client: str
    answer: queue.Queue


@dataclass(frozen=True)
class Stored:
    """To a client: what became of its write."""

    is_done: bool


# ---- the service --------------------------------------------------------------------------------


class Server:
    """Grants the lock to one client after the other."""

    def __init__(self, grants):
        self.inbox = queue.Queue()
        self.leases = queue.Queue()
        """Grants of which the keeper is told."""
        self.grants = grants

    def run(self):
        number, is_free, waiting = 0, True, []
        while number < self.grants or not is_free:
            message = self.inbox.get()
            if isinstance(message, Acquire):
                waiting.append(message)
            elif message.number == number:
                is_free = True
            if is_free and waiting:
                number, is_free = number + 1, False
                self.grant(waiting.pop(0), number)

    def grant(self, wish, number):
        wish.answer.put(Granted(number))
        self.leases.put(number)


class Keeper:
    """The clock of the leases: each comes to its end, sooner or later."""

    def __init__(self, server, grants):
        self.server = server
        self.grants = grants

    def run(self):
        for _ in range(self.grants):
            number = self.server.leases.get()
            self.server.inbox.put(Expired(number))


class Store:
    """Keeps the value that was written last."""

    def __init__(self, writes):
        self.inbox = queue.Queue()
        self.writes = writes

    def run(self):
        newest, late = 0, False
        for _ in range(self.writes):
            message = self.inbox.get()
            if message.number < newest and VARIANT == "right":
                message.answer.put(Stored(False))
                continue
            late = message.number < newest  # noqa: F841 - what is claimed reads it
            newest = max(newest, message.number)
            message.answer.put(Stored(True))  #: stored


class Client:
    """Writes once, with the lock."""

    def __init__(self, name, server, store):
        self.name = name
        self.server, self.store = server, store
        self.answers = queue.Queue()
        self.heard = None
        """What became of its write; None: it has not heard yet."""

    @property
    def fate(self):
        """What it would tell its user. One that is told "late" asks for the lock again."""
        if self.heard is None:
            return "is still waiting"
        return "has written" if self.heard.is_done else "was late, and knows it"

    def run(self):
        self.server.inbox.put(Acquire(self.name, self.answers))
        granted = self.answers.get()
        self.store.inbox.put(Write(granted.number, self.name, self.answers))
        self.heard = self.answers.get()


# ---- what must be true --------------------------------------------------------------------------


@possibly.predicate
def one_writer(state):
    """No write comes after one of a later grant."""
    return "store" not in state or not state.store.late


def report(clients):
    """A line for each client. In the wrong form all have written, and one of them did too late: the store
    holds what an earlier grant wrote, and no line says so."""
    width = max(len(client.name) for client in clients)
    return "\n".join(f"{client.name:<{width}}  {client.fate}" for client in clients)


def check_arguments():
    """A sentence and no traceback for what makes no sense."""
    if VARIANT not in ("wrong", "right"):
        raise SystemExit(f"{VARIANT} is no form of this program: wrong or right")
    if not 1 <= CLIENTS <= len(ascii_lowercase):
        raise SystemExit("there is a client for each letter, at least one")


def main():
    check_arguments()
    names = tuple(f"client-{letter}" for letter in ascii_lowercase[:CLIENTS])
    server, store = Server(len(names)), Store(len(names))
    actors = {"server": server, "store": store, "keeper": Keeper(server, len(names))}
    actors |= {name: Client(name, server, store) for name in names}
    threads = [threading.Thread(target=actor.run, name=name) for name, actor in actors.items()]
    possibly.claim("G one_writer")
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(report([actors[name] for name in names]))


if __name__ == "__main__":
    main()
