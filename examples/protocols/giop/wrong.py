"""Requests through a broker, with a fault: the agent now and then sends a request to both servers.

python wrong.py [USERS REQUESTS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (2, 2)), fault="twice")
