"""`python -m possibly` is the command `possibly`."""

from __future__ import annotations

import sys

from possibly.views.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
