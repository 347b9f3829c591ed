"""Peterson's algorithm with a wrong turn: each gives the turn to itself."""

import threading

wants = [False, False]
turn = 0
inside = 0


def visit(me):
    global turn, inside
    other = 1 - me
    wants[me] = True
    turn = me
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
