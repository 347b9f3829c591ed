"""A ring elects, with a fault: process 1 takes any lower number that comes along for its own.

python wrong.py [PROCESSES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (5,)), fault="lower")
