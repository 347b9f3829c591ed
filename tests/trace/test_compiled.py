"""The compiled reader of lines against the builder: a text is read alike by both, or refused alike."""

from __future__ import annotations

import io
import json
import os
from random import Random
from typing import Any

from possibly.errors import TraceError
from possibly.trace.compare import facts
from possibly.trace.jsonl import read_trace, write_lines
from tests.generate import random_trace
from tests.twins import needs_kernels, plain

CASES = 600 * int(os.environ.get("POSSIBLY_CASES", "1"))
VALUES = [True, None, False, 1.5, -0.0, 0, -7, [1], "q", "é", {"z": 1}, 10**20, 10**17, 1e300, "a\\b"]

pytestmark = needs_kernels


def told(data: bytes) -> str | list[Any]:
    """All that the text tells, or the error."""
    try:
        trace = read_trace(io.BytesIO(data))
    except TraceError as error:
        return str(error)
    return [*facts(trace), list(trace.lines or ()), list(trace.strings), list(map(repr, trace.values))]


def without_names(lines: list[str], random: Random) -> list[str]:
    """The same run with default names, and some more fields."""
    called: dict[str, str] = {}
    count: dict[str, int] = {}
    found = lines[:1]
    for line in lines[1:]:
        fields: dict[str, Any] = json.loads(line)
        count[fields["p"]] = count.get(fields["p"], 0) + 1
        called[fields.pop("id")] = f"{fields['p']}:{count[fields['p']]}"
        if "after" in fields:
            fields["after"] = [called[name] for name in fields["after"]]
        if random.random() < 0.3:
            fields[random.choice(["label", "at", "fn"])] = random.choice(["a", "b", "é", 'c"d'])
        if random.random() < 0.2:
            fields["t"] = random.choice([1, 2.5, 1e-3, -4])
        if random.random() < 0.2:
            fields.setdefault("set", {})["y"] = random.choice(VALUES)
        if random.random() < 0.1:
            fields.setdefault("kind", random.choice(["acquire", "enter", "weird", "internal"]))
        if random.random() < 0.05:
            fields["colour"] = "blue"
        found.append(json.dumps(fields, ensure_ascii=random.random() < 0.5))
    return found


def damaged(data: bytes, random: Random) -> bytes:
    found = bytearray(data)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(found))
        match random.randrange(3):
            case 0:
                found[place] = random.choice(b'{}[]",:0123456789abcpm \\\n\x00')
            case 1:
                del found[place]
            case _:
                found[place:place] = found[max(0, place - random.randint(1, 30)) : place]
    return bytes(found)


def text(random: Random) -> bytes:
    lines = list(write_lines(random_trace(random, random.randint(0, 25))))
    if random.random() < 0.7:
        lines = without_names(lines, random)
    found = "\n".join(lines)
    if random.random() < 0.3:
        found += "\n"
    if random.random() < 0.2:
        found = found.replace("\n", "\n\n", random.randint(1, 4))
    if random.random() < 0.2:
        found = found.replace("\n", "\r\n")
    return found.encode()


def test_both_read_the_same() -> None:
    for seed in range(CASES):
        data = text(Random(seed))
        compiled = told(data)
        with plain():
            assert told(data) == compiled, data.decode()


def test_both_fail_alike() -> None:
    failed = 0
    for seed in range(CASES):
        random = Random(seed)
        data = damaged(text(random), random)
        compiled = told(data)
        with plain():
            expected = told(data)
        failed += isinstance(expected, str)
        if not isinstance(expected, str) and expected != compiled:
            # A line that is given up half-way may leave a name in the tables, and nothing else.
            assert compiled[:-2] == expected[:-2], data
        else:
            assert compiled == expected, data
    assert failed > CASES // 4


def test_what_the_compiled_reader_gives_up_is_added_in_its_place() -> None:
    usual = '{"p":"P","set":{"x":%d}}'
    odd = '{"p":"P","set":{"x":[%d]}}'
    for period in (1, 2, 3, 50):
        lines = ['{"format":"possibly-trace","version":1,"processes":[{"name":"P"}]}']
        lines += [(odd if number % period == 0 else usual) % number for number in range(3000)]
        trace = read_trace(io.BytesIO("\n".join(lines).encode()))
        expected = [[number] if number % period == 0 else number for number in range(3000)]
        assert [dict(trace.sets(event))["x"] for event in range(3000)] == expected
