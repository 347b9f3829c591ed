"""How long a test waits for what has to come: so long that only what hangs is given up, on any machine."""

from __future__ import annotations

PATIENCE = 300.0
