"""Peterson's mutual exclusion for two processes."""

# ruff: noqa: N802
from possibly.models.words import process, wait

wants = [False, False]
turn = 0
inside = 0


@process(2)
def P(i):
    global turn, inside
    while True:
        wants[i] = True  #: try
        turn = 1 - i  #: yield
        wait(not wants[1 - i] or turn == i)  #: wait
        inside += 1  #: enter
        inside -= 1  #: leave
        wants[i] = False  #: done
