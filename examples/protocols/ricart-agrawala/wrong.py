"""Mutual exclusion by messages, with a fault: every request is answered at once.

python wrong.py [PROCESSES ENTRIES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 2)), fault="polite")
