"""What is measured: the protocols, their sizes, and the figures that the thesis printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples" / "protocols"


@dataclass(frozen=True)
class Printed:
    """What the thesis tells of a property: the largest number of processes, seconds and megabytes there."""

    figure: str
    spin: tuple[int, float | None, float | None] | None
    pota: tuple[int, float | None, float | None] | None


@dataclass(frozen=True)
class Protocol:
    name: str
    rounds: int | None
    """The second argument of the program; None: it has none."""
    printed: dict[str, Printed]
    watched: tuple[str, ...] = ()
    """The variables that its properties read, and those whose accesses make the order."""


@dataclass(frozen=True)
class Size:
    count: int
    rounds: int | None


PROTOCOLS = (
    Protocol(
        "philosophers",
        2,
        {
            "exclusion": Printed("7.5", (7, 189.4, 493.2), (200, 383, 52)),
            "starvation": Printed("7.6", (6, 246.7, 301.7), (200, 835, 106)),
            "possible": Printed("7.7", None, (200, 1118, 80)),
        },
        ("eat", "hungry"),
    ),
    Protocol(
        "primary-secondary",
        6,
        {"invariant": Printed("7.8", (10, None, None), (40, None, None))},
        ("primary", "secondary", "isPrimary", "isSecondary", "ready"),
    ),
    Protocol(
        "ricart-agrawala",
        1,
        {
            "exclusion": Printed("7.9", None, None),
            "granted": Printed("7.10", (5, 55.82, 393), (100, 2335, 272)),
        },
        ("inCS", "tryCS"),
    ),
    Protocol(
        "bakery",
        1,
        {"exclusion": Printed("7.11", (11, 36, 375), (200, 8500, 30))},
        ("inCS", "number", "choosing"),
    ),
    Protocol(
        "cache-coherence",
        4,
        {"one_writer": Printed("7.12", (10, 90, 468), (120, 1053, 44)), "no_reader": Printed("", None, None)},
        ("state",),
    ),
    Protocol(
        "giop",
        2,
        {
            "user_reply": Printed("7.14", (10, 607.32, 376.15), (250, 1761, 91)),
            "agent_reply": Printed("7.15", (10, 324.71, 305), (250, 1177, 107)),
            "exactly_once": Printed("7.16", (10, 321.69, 305), (120, 522, 369)),
            "at_most_once": Printed("7.17", (10, 319.21, 305), (120, 520, 475)),
        },
        ("requested", "replied", "sent", "SRequestSent", "SReplyReceived", "processed"),
    ),
    Protocol(
        "atm-ring",
        5,
        {
            "renewed": Printed("7.19", (3, None, None), (250, 5195, 460)),
            "acknowledged": Printed("7.20", (3, None, None), (250, 3420, 357)),
        },
        ("req", "ack", "credit"),
    ),
    Protocol(
        "leader-election",
        None,
        {
            "chosen": Printed("7.21", (11, 15.8, 67.4), (17, 54, 181)),
            "one_leader": Printed("", None, None),
            "highest": Printed("", None, None),
        },
        ("isLeader", "mine", "done"),
    ),
)

SMALL = (3, 5, 10, 25)
FULL = (50, 100, 250, 1000)
LONG = {"philosophers": Size(100, 850)}
"""A run of a million events."""


def sizes(protocol: Protocol, full: bool) -> list[Size]:
    """The sizes to measure, smallest first."""
    counts = [*SMALL, *(FULL if full else ())]
    found = [Size(count, protocol.rounds) for count in counts]
    return [*found, *([LONG[protocol.name]] if full and protocol.name in LONG else [])]
