"""Whatever is looked at while it is changed is seen before and after: states x reads x changes.

The truth is computed by plain Python (`crossing`). A sample, unless POSSIBLY_CASES asks for more.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import queue
import random
import re
import threading
import warnings
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.crossing import (
    THREADS,
    Crossing,
    crossings,
    expected,
    program,
    relevant,
    without_addresses,
)

CASES = 4 * int(os.environ.get("POSSIBLY_CASES", "1"))
FILES = sorted((Path(__file__).parent / "crossed").glob("*.txt"))
ALL = [each for path in FILES for each in crossings(path)]
CHOSEN = random.Random(29).sample(ALL, min(CASES, len(ALL))) if CASES < 20 else ALL


@pytest.mark.large("what is replaced in a namespace: globals().update(f=lambda: 2) (0)")
@pytest.mark.parametrize("crossing", CHOSEN, ids=lambda crossing: crossing.name)
def test_a_change_is_seen_by_every_look_that_it_changes(crossing: Crossing, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        crossing = relevant(crossing)
        if not crossing.reads:
            return
        outcomes = expected(crossing)
    path = tmp_path / "program.py"
    path.write_text(program(crossing) + THREADS)
    found = {without_addresses(output.decode().strip()) for _, _, output in reduced(path)[0]}
    assert [each for each in outcomes if each not in found] == []


MODULES = {
    "asyncio": asyncio,
    "concurrent.futures": concurrent.futures,
    "queue": queue,
    "threading": threading,
}
ELSEWHERE = frozenset(
    """run join shutdown add_done_callback remove_done_callback get_loop get_stack print_stack get_context
    set_result set_exception time call_at call_later call_soon call_soon_threadsafe create_task
    run_in_executor run_forever run_until_complete call_exception_handler default_exception_handler
    set_default_executor shutdown_asyncgens shutdown_default_executor getaddrinfo getnameinfo sendfile
    start_tls""".split()
)
"""Names that wait, or that call and are called in steps of their own: `test_models`, `loops`, `world`."""
OUTSIDE = ("add_", "remove_", "connect_", "create_", "sock_", "subprocess_")


def test_every_public_name_of_what_is_modelled_is_crossed() -> None:
    text = (Path(__file__).parent / "crossed" / "models.txt").read_text(encoding="utf-8")
    used: dict[str, str] = {}
    for block in f"\n{text}".split("\n## ")[1:]:
        name = block.split()[0]
        used[name] = used.get(name, "") + block
    classes = {name: getattr(MODULES[name.rpartition(".")[0]], name.rpartition(".")[2]) for name in used}
    for name, found in classes.items():
        cls = found if isinstance(found, type) else type(found())
        others = [classes[each] for each in used if each != name and isinstance(classes[each], type)]
        inherited = {word for base in cls.__mro__[1:] if base in others for word in dir(base)}
        words = {word for word in dir(cls) if word[0] != "_"} - inherited - ELSEWHERE
        words = {word for word in words if not word.startswith(OUTSIDE)}
        assert [word for word in sorted(words) if not re.search(rf"\.{word}\b", used[name])] == [], name


def test_every_program_is_one() -> None:
    assert len({each.name for each in ALL}) == len(ALL)
    for each in ALL:
        compile(program(each), each.name, "exec", dont_inherit=True)
