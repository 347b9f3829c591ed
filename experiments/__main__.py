"""Runs the experiments and writes `table.json`, `README.md` and the figures."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from experiments import spin
from experiments.figures import draw
from experiments.measure import measured
from experiments.protocols import FOLDER, PROTOCOLS, Protocol, Size, sizes
from experiments.tables import beside_thesis, write_page
from possibly.logic.specification import read_specification

Row = dict[str, object]
OTHERS = 4
"""Seconds of the clock for one of the processor, where others work too."""
LIMIT, FULL_LIMIT = 40, 120
"""Seconds of the processor for one command: SPIN dies by them or by its memory, once for each property."""
POSSIBLY = (sys.executable, "-m", "possibly")


def main() -> int:
    arguments = _parser().parse_args()
    arguments.limit = arguments.limit or (FULL_LIMIT if arguments.full else LIMIT)
    output: Path = arguments.output
    output.mkdir(parents=True, exist_ok=True)
    table: dict[str, object] = {"machine": _machine() | {"seconds_for_spin": arguments.limit}, "rows": []}
    rows = of_others(output / "table.json", arguments.only)
    wanted = [each for each in PROTOCOLS if not arguments.only or each.name in arguments.only]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(partial(_measured_protocol, arguments=arguments), wanted):
            rows += found
            rows.sort(key=lambda row: [each.name for each in PROTOCOLS].index(str(row["protocol"])))
            table["rows"] = rows
            table["beside"] = list(beside_thesis(rows))
            (output / "table.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
            write_page(table, output)
            draw(rows, output)
    print(output / "README.md")
    return int(any(row.get("disagree") for row in rows))


def of_others(file: Path, only: Sequence[str]) -> list[Row]:
    """What was measured before of protocols that are not asked for now: it stays."""
    if not only or not file.exists():
        return []
    rows: list[Row] = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return [row for row in rows if row["protocol"] not in only]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments")
    parser.add_argument("--full", action="store_true", help="the sizes of the thesis and beyond")
    parser.add_argument("--without-spin", action="store_true", help="measure possibly alone")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PROTOCOL",
        help="measure it alone, and keep what the table says of others",
    )
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="of the processor, for one command")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count(), metavar="N", help="protocols that are measured at a time"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("build/experiments"))
    return parser


def _machine() -> dict[str, object]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "memory_gigabytes": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1),
    }


def _measured_protocol(protocol: Protocol, arguments: argparse.Namespace) -> list[Row]:
    found: list[Row] = []
    has_spin = spin.is_here() and not arguments.without_spin
    spin_ends = set() if has_spin else set(protocol.printed)
    for size in sizes(protocol, arguments.full):
        with tempfile.TemporaryDirectory() as folder:
            found += _measured_size(protocol, size, Path(folder), arguments.limit, spin_ends)
    return found


def _measured_size(
    protocol: Protocol, size: Size, folder: Path, limit: float, spin_ends: set[str]
) -> list[Row]:
    specification = FOLDER / protocol.name / "protocol.spec"
    trace = folder / "run.jsonl"
    program = [str(FOLDER / protocol.name / "right.py"), *map(str, filter(None, (size.count, size.rounds)))]
    recorded = measured([*POSSIBLY, *_recording(protocol, trace), *program], folder, 3 * limit)
    print(f"{protocol.name} {size.count}: recorded in {recorded.seconds:.1f} s", file=sys.stderr)
    start: Row = {"protocol": protocol.name, "count": size.count, "rounds": size.rounds}
    if recorded.status != 0:
        return [{**start, "why": "not recorded: " + recorded.errors.strip()[-200:]}]
    start |= {
        "record_seconds": round(recorded.seconds, 2),
        "record_megabytes": round(recorded.megabytes),
        "trace_bytes": trace.stat().st_size,
    }
    names = [each.name for each in read_specification(specification.read_text(encoding="utf-8")).properties]
    return [start | _checked(specification, trace, name, folder, limit, spin_ends) for name in names]


def _recording(protocol: Protocol, trace: Path) -> list[str]:
    """The words that record what the properties read, and check nothing yet."""
    return ["run", *(word for name in protocol.watched for word in ("--watch", name)), "-o", str(trace)]


def _checked(
    specification: Path, trace: Path, name: str, folder: Path, limit: float, spin_ends: set[str]
) -> Row:
    asked = ["--spec", str(specification), "--only", name]
    words = ["check", str(trace), *asked, "--json", "--timeout", str(OTHERS * limit)]
    checked = measured([*POSSIBLY, *words], folder, 2 * limit)
    row: Row = {"property": name, "seconds": round(checked.seconds, 3), "megabytes": round(checked.megabytes)}
    if checked.status not in (0, 1, 3):
        return row | {"verdict": None, "why": checked.errors.strip()[-200:]}
    report = json.loads(checked.output)
    (answer,) = report["properties"]
    row |= {key: answer[key] for key in ("verdict", "engine", "cuts", "class")}
    row |= {"processes": report["processes"], "events": report["events"]}
    which = f"  {specification.parent.name} {name}"
    print(f"{which}: {row['verdict']} in {row['seconds']} s, {row['megabytes']} MB", file=sys.stderr)
    if name not in spin_ends:
        found = spin.asked(trace, asked, folder, limit)
        row["spin"] = found
        print(f"{which} by SPIN: {found}", file=sys.stderr, flush=True)
        if "verdict" not in found:
            spin_ends.add(name)
        elif found["verdict"] != row["verdict"]:
            row["disagree"] = True
    return row


if __name__ == "__main__":
    sys.exit(main())
