"""What Python can do is found by `explore`: outcomes of two tasks with a switch before any instruction."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.control.runtime.brute import reduced
from tests.control.runtime.opcodes import outcomes

CASES = 12 * int(os.environ.get("POSSIBLY_CASES", "1"))

STATE = """
class C:
    n = 0
    def m(self): return 1
class D(C): pass
def two(self): return 2
o = D()
o.x = 0
g = 0
L = [1, 2]
d = {1: 1}
s = {1}
seen = []
"""
READS = """
g|o.x|o.n|D.n|C.n|L[0]|L[-1]|d[1]|d[True]|len(L)|len(d)|bool(L)|1 in d|2 in s|d.get(2)|sum(L)|str(d)|o.m()|
[*L]|{**d}|max(L)|sorted(L)|list(d)|vars(o)['x']|getattr(o, 'x')|f'{L}'|(L + [5])[-1]|L == [1, 2]|
[v for v in L][-1]|L[0:1]|hasattr(o, 'y')|tuple(L)[0]|globals()['g']|next(iter(L))|(lambda v=o.x: v)()
""".replace("\n", "").split("|")
WRITES = """
globals().__setitem__('g', {v})|setattr(o, 'x', {v})|setattr(C, 'n', {v})|setattr(D, 'n', {v})|L.append({v})|
L.__setitem__(0, {v})|d.__setitem__(1, {v})|d.update(a={v})|d.setdefault(2, {v})|s.add({v})|L.sort()|L.pop()|
L.clear()|d.pop(1, 0)|d.clear()|o.__dict__.__setitem__('x', {v})|setattr(o, 'y', {v})|setattr(C, 'm', two)|
L.insert(0, {v})|s.discard(1)|L.extend([{v}])|L.reverse()|delattr(o, 'x')
""".replace("\n", "").split("|")
STATEMENTS = """
o.x = {v}|o.x += 1|L[0] = {v}|L[0] += 1|d[1] = {v}|d[True] += 1|C.n += 1|D.n = o.n + 1|del d[1]|L += [{v}]|
o.x, L[0] = {v}, o.x|L[:] = [{v}]|del L[0]
""".replace("\n", "").split("|")


def generated(seed: int) -> str:
    draw = random.Random(seed)

    def body(name: str) -> str:
        value = draw.choice((3, 4))
        change = draw.choice(WRITES + STATEMENTS * 2).format(v=value)
        lines = [f"    seen.append(repr({draw.choice(READS)}))", f"    {change}"]
        draw.shuffle(lines)
        return f"def {name}():\n" + "\n".join(lines[: draw.choice((1, 1, 2))])

    after = "def result(): return seen, g, sorted(vars(o).items()), C.n, D.n, L, d, sorted(s), o.m()"
    return f"{STATE}\n{body('a')}\n{body('b')}\n{after}\n"


PROGRAM = """
import threading
{source}
def quietly(task):
    try: task()
    except Exception: pass
threads = [threading.Thread(target=quietly, args=(each,)) for each in (a, b)]
for each in threads: each.start()
for each in threads: each.join()
print(result())
"""


def explored(path: Path, source: str) -> set[str]:
    path.write_text(PROGRAM.format(source=source))
    return {output.decode().strip() for _, _, output in reduced(path)[0]}


@pytest.mark.parametrize("seed", range(CASES))
def test_whatever_python_can_do_is_found(seed: int, tmp_path: Path) -> None:
    source = generated(seed)
    assert outcomes(source) - explored(tmp_path / "program.py", source) == set()
