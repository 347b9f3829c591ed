"""The bakery, with a fault: a process takes a number, and then does not look at those of the others.

python wrong.py [PROCESSES ENTRIES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 2)), fault="blind")
