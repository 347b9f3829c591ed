"""Dining philosophers, with another fault: one fork is enough to eat.

python also_wrong.py [PHILOSOPHERS MEALS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5, 2)), fault="greedy")
