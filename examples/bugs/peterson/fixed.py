"""Peterson's algorithm: each gives the turn to the other."""

import threading

wants = [False, False]
turn = 0
inside = 0


def visit(me):
    global turn, inside
    other = 1 - me
    wants[me] = True
    turn = other
    while wants[other] and turn == other:
        pass
    inside += 1
    assert inside == 1
    inside -= 1
    wants[me] = False


visitors = [threading.Thread(target=visit, args=(me,), name=f"visitor-{me}") for me in (0, 1)]
for visitor in visitors:
    visitor.start()
for visitor in visitors:
    visitor.join()
