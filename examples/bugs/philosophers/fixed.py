"""Three philosophers, each of whom takes the fork with the smaller number first."""

import threading

forks = [threading.Lock() for _ in range(3)]


def dine(seat):
    first, second = sorted((seat, (seat + 1) % 3))
    with forks[first], forks[second]:
        pass


philosophers = [threading.Thread(target=dine, args=(seat,), name=f"philosopher-{seat}") for seat in range(3)]
for philosopher in philosophers:
    philosopher.start()
for philosopher in philosophers:
    philosopher.join()
