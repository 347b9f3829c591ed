"""A primary and a secondary, with a fault: the old primary leaves its office before its successor is in it.

python wrong.py [NODES HAND-OVERS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (4, 3)), fault="early")
