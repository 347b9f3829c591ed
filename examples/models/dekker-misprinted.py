"""Dekker's mutual exclusion as figure 3 of "Temporal debugging for concurrent systems" misprints it.

Each process waits for the value that `turn` has at that point, see dekker.py.
"""

# ruff: noqa: N802
from possibly.models.words import process, wait

c0 = 1
c1 = 1
turn = 0
critical = 0


@process
def P0():
    global c0, turn, critical
    c0 = 1  #: m1
    while True:
        c0 = 0  #: m2
        while c1 == 0:  #: m7
            if turn == 1:  #: m6
                c0 = 1  #: m3
                wait(turn == 1)  #: m4
                c0 = 0  #: m5
        critical = 0  #: m8
        c0 = 1  #: m9
        turn = 1  #: m10


@process
def P1():
    global c1, turn, critical
    c1 = 1  #: n1
    while True:
        c1 = 0  #: n2
        while c0 == 0:  #: n7
            if turn == 0:  #: n6
                c1 = 1  #: n3
                wait(turn == 0)  #: n4
                c1 = 0  #: n5
        critical = 1  #: n8
        c1 = 1  #: n9
        turn = 0  #: n10
