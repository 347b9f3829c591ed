"""Dining philosophers, with a fault: who hands a fork over keeps it as well, so that neighbours may eat at
once.

python wrong.py [PHILOSOPHERS MEALS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5, 2)), fault="kept")
