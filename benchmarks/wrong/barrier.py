"""A barrier of one's own that is used again: who is late finds the count of the next round."""

import threading

PARTIES, ROUNDS = 3, 2


class Barrier:
    def __init__(self, parties):
        self.parties = parties
        self.waiting = 0
        self.condition = threading.Condition()

    def wait(self):
        with self.condition:
            self.waiting += 1
            if self.waiting == self.parties:
                self.waiting = 0
                self.condition.notify_all()
            else:
                while self.waiting != 0:
                    self.condition.wait()


barrier = Barrier(PARTIES)
phases = [0] * PARTIES


def simulate(number):
    for phase in range(ROUNDS):
        phases[number] = phase + 1
        barrier.wait()
        for other in range(PARTIES):
            assert phases[other] >= phase + 1, f"{other} is behind {number}"


threads = [threading.Thread(target=simulate, args=(number,)) for number in range(PARTIES)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
