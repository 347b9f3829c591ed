"""Three philosophers who all take the left fork first."""

import threading

forks = [threading.Lock() for _ in range(3)]


def dine(seat):
    left, right = forks[seat], forks[(seat + 1) % 3]
    with left, right:
        pass


philosophers = [threading.Thread(target=dine, args=(seat,), name=f"philosopher-{seat}") for seat in range(3)]
for philosopher in philosophers:
    philosopher.start()
for philosopher in philosophers:
    philosopher.join()
