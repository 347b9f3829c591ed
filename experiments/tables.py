"""The measured table as a page: each property at each size, and the thesis' own figures beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from experiments.protocols import PROTOCOLS, Printed

Row = dict[str, Any]


def write_page(table: dict[str, Any], folder: Path) -> None:
    (folder / "README.md").write_text("\n".join(_page(table)) + "\n", encoding="utf-8")


MEASURED = """\
# The experiments of the thesis, measured

Measured on {cores} cores and {memory_gigabytes} GB ({system}, {architecture}), Python {python}, with other
work on the machine: seconds are those of the processor, for whole commands, and memory is the peak. `make
experiments` measures again; `table.json` has it all, `figures.html` shows the figures.

## Beside the thesis

The largest number of processes that was checked, with seconds and MB there. SPIN then had a Pentium 4 of 1.4
GHz and 512 MB; SPIN now has {seconds_for_spin:g} s of the processor, 512 MB, and a model in which it
reduces well (`possibly export --to promela --spec FILE --only NAME`).
"""
EVERY_SIZE = """
## Every size

Processes are those that the program was told. `SPIN s` is the time of its search, `compiled s` that of making
and compiling what searches. After the first size that SPIN cannot do it is not asked again.
"""
BESIDE = ("property", "figure", "SPIN then", "POTA then", "SPIN now", "possibly")
TAKEN = ("count", "seconds", "megabytes")
HEADS = (
    "protocol", "processes", "events", "recorded s", "us an event", "trace MB", "property", "verdict", "s",
    "MB", "cuts", "SPIN s", "compiled s", "states", "SPIN MB",
)  # fmt: skip


def _page(table: dict[str, Any]) -> Iterator[str]:
    yield MEASURED.format(**table["machine"])
    yield from _lines(BESIDE, _beside(table["beside"]))
    yield EVERY_SIZE
    yield from _lines(HEADS, map(_cells, table["rows"]))


def beside_thesis(rows: list[Row]) -> Iterator[Row]:
    """For each property the largest size that the thesis, SPIN and we came to, with what it took."""
    for protocol in PROTOCOLS:
        for name, printed in protocol.printed.items():
            found = [row for row in rows if row["protocol"] == protocol.name and row.get("property") == name]
            if found:
                yield {"protocol": protocol.name, "property": name, **_compared(printed, found)}


def _compared(printed: Printed, rows: list[Row]) -> Row:
    ours = [row for row in rows if row.get("verdict") in ("holds", "violated")]
    spins = [row | row["spin"] for row in rows if "verdict" in row.get("spin", {})]
    return {
        "figure": printed.figure or None,
        "spin_then": _then(printed.spin),
        "pota_then": _then(printed.pota),
        "spin_now": _largest(spins),
        "possibly": _largest(ours),
    }


def _then(found: tuple[int, float | None, float | None] | None) -> Row | None:
    return None if found is None else dict(zip(TAKEN, found, strict=True))


def _largest(rows: list[Row]) -> Row | None:
    last = max(rows, key=lambda row: row["count"], default=None)
    return None if last is None else {name: last[name] for name in TAKEN}


def _beside(rows: Iterable[Row]) -> Iterator[list[str]]:
    for row in rows:
        figures = (_at(row[column]) for column in ("spin_then", "pota_then", "spin_now", "possibly"))
        yield [f"{row['protocol']}: {row['property']}", row["figure"] or "ours", *figures]


def _at(taken: Row | None) -> str:
    if taken is None:
        return "-"
    count, seconds, megabytes = (taken[name] for name in TAKEN)
    told = [f"{seconds:,g} s"] if seconds is not None else []
    told += [f"{megabytes:,g} MB"] if megabytes is not None else []
    return ": ".join([str(count), ", ".join(told)]) if told else str(count)


def _cells(row: Row) -> list[str]:
    start = [row["protocol"], str(row["count"])]
    if "property" not in row:
        return [*start, *["-"] * 4, row["why"].replace("\n", " ")[:60], *["-"] * 8]
    events = row.get("events")
    spin = row.get("spin", {})
    each = "-" if not events else f"{1e6 * row['record_seconds'] / events:.0f}"
    return [
        *start,
        f"{events:,}" if events else "-",
        f"{row['record_seconds']:.1f}",
        each,
        f"{row['trace_bytes'] / 1e6:.1f}",
        row["property"],
        row.get("verdict") or "-",
        f"{row['seconds']:.2f}",
        str(row["megabytes"]),
        f"{row['cuts']:,}" if "cuts" in row else "-",
        *(str(spin.get(key, "-")) for key in ("seconds", "compile_seconds", "states", "megabytes")),
    ]


def _lines(heads: Sequence[str], rows: Iterable[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
