# WRONG: both wait for the other: deadlock over a pipe
from multiprocessing import Process, Pipe
def child(c):
    c.recv(); c.send(1)
if __name__ == "__main__":
    a, b = Pipe()
    p = Process(target=child, args=(b,)); p.start()
    a.recv(); a.send(1)
    p.join()
