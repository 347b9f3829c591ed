"""Mutual exclusion by messages, with another fault: of two requests of the same time none is first.

python also_wrong.py [PROCESSES ENTRIES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 2)), fault="ties")
