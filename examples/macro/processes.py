"""The same producer, buffer and consumer as processes of the operating system.

possibly explore --macro examples/macro/processes.py [right|lossy|stuck] [ITEMS] [CAPACITY]
"""

from multiprocessing import Process, Queue

from threads import main

if __name__ == "__main__":
    main(Process, Queue)
