"""How a task waits, in words, by the kind of its operation."""

from __future__ import annotations

HELD = ("acquire", "take")
"""What waits for something that others have."""
WAITING = {
    "acquire": "waits for",
    "join": "waits for the end of",
    "join any": "waits for one to end, as",
    "wake": "waits on",
    "get": "waits to get from",
    "put": "waits to put into",
    "receive": "waits to receive from",
    "send": "waits to send into",
    "take": "waits for a unit of",
    "await": "awaits",
    "result": "waits for the result of",
    "exit": "waits for all threads",
}
