"""transitions.LockedMachine holds its lock during callbacks; two machines that move each other."""

import threading
import time

from transitions.extensions import LockedMachine


class Door:
    other = None

    def moved(self):
        if self.other:
            self.other.ring()


def door():
    model = Door()
    machine = LockedMachine(model, states=["shut", "open"], initial="shut", auto_transitions=False)
    machine.add_transition("turn", "shut", "open", after="moved")
    machine.add_transition("ring", "*", "=")
    return model


left, right = door(), door()
left.other, right.other = right, left
threads = [threading.Thread(target=left.turn, name="left"), threading.Thread(target=right.turn, name="right")]
for thread in threads:
    thread.start()
    time.sleep(0.2)
for thread in threads:
    thread.join()
