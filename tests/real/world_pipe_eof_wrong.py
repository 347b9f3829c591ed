# WRONG: the child holds the other end itself, so EOF never comes
from multiprocessing import Process, Pipe
def child(c):
    while True:
        try: x = c.recv()
        except EOFError: break
        c.send(x + 1)
if __name__ == "__main__":
    a, b = Pipe()
    p = Process(target=child, args=(b,)); p.start(); b.close()
    for i in range(2):
        a.send(i); assert a.recv() == i + 1
    a.close(); p.join()
    assert p.exitcode == 0, p.exitcode
