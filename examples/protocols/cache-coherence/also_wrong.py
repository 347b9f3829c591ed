"""Caches and a directory, with another fault: the cache that wrote is not told when another one reads.

python also_wrong.py [CACHES ACCESSES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 3)), fault="reader")
