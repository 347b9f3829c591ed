"""Figures like 7.5 to 7.22 of the thesis: time and memory against processes, SPIN and us, logarithmic."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from experiments.protocols import PROTOCOLS

Row = dict[str, Any]
Points = list[tuple[int, float]]


def draw(rows: list[Row], folder: Path) -> None:
    """One SVG a property, and a page that shows them all."""
    names = []
    for protocol in PROTOCOLS:
        for name, printed in protocol.printed.items():
            found = [row for row in rows if row["protocol"] == protocol.name and row.get("property") == name]
            found = [row for row in found if row.get("verdict") and row["rounds"] == protocol.rounds]
            if found:
                names.append(f"{protocol.name}-{name}.svg")
                title = f"{protocol.name}: {name}" + (f" (figure {printed.figure})" if printed.figure else "")
                _figure(found, title, folder / names[-1])
    pictures = "\n".join(f'<img src="{escape(name)}" alt="{escape(name)}">' for name in names)
    page = (
        f"<!doctype html>\n<meta charset=utf-8>\n<title>The experiments of the thesis</title>\n{pictures}\n"
    )
    (folder / "figures.html").write_text(page, encoding="utf-8")


def _figure(rows: list[Row], title: str, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "possibly"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, key, unit in zip(axes, ("seconds", "megabytes"), ("seconds", "MB"), strict=True):
        _line(axis, [(row["count"], row[key]) for row in rows], "possibly", "o-")
        spins = [(row["count"], row["spin"][key]) for row in rows if "verdict" in row.get("spin", {})]
        _line(axis, spins, "SPIN", "s--")
        axis.set(xscale="log", yscale="log", xlabel="processes", ylabel=unit)
        axis.grid(visible=True, alpha=0.3)
    # Beside the axes, where it hides no point.
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _line(axis: Any, points: Points, label: str, style: str) -> None:
    if points:
        axis.plot(
            *zip(*((x, max(y, 1e-3)) for x, y in points), strict=True), style, label=label, markersize=4
        )
