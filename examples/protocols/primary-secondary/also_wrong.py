"""A primary and a secondary, with another fault: the old primary is let go before the secondary turns to
the new one.

python also_wrong.py [NODES HAND-OVERS]
"""

import sys

from right import main

if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (4, 3)), fault="late")
