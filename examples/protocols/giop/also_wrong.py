"""Requests through a broker, with another fault: the broker answers before the request was performed.

python also_wrong.py [USERS REQUESTS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (2, 2)), fault="at once")
