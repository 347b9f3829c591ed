"""Caches and a directory, with a fault: the directory does not wait until the others have given up their
copies.

python wrong.py [CACHES ACCESSES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 3)), fault="hasty")
