"""A ring elects, with another fault: two processes have the highest number.

python also_wrong.py [PROCESSES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5,)), fault="same")
