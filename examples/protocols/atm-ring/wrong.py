"""A ring with credits, with a fault: unit 1 lets the reset pass by, so that its credit is never renewed.

python wrong.py [UNITS CELLS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (4, 5)), fault="passed by")
