"""A ring with credits, with another fault: a reset renews the credit of one cell alone.

python also_wrong.py [UNITS CELLS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (4, 5)), fault="one cell")
