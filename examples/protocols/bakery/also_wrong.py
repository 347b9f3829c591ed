"""The bakery, with another fault: a process gives its number back while it is still inside.

python also_wrong.py [PROCESSES ENTRIES]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (3, 2)), fault="early")
