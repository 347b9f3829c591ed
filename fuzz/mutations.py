"""How an input becomes another one: bytes changed, parts cut, doubled, moved or taken from another seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

SHARP = (
    b"\x00",
    b"\xff",
    b"\n",
    b"\r\n",
    b'"',
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[" * 40,
    b"(" * 40,
    b"-1",
    b"0",
    b"1e999",
    b"NaN",
    b"9" * 25,
    b"null",
    b"true",
    b"\xe2\x80\xa8",
    b"\xed\xa0\x80",
    b":",
    b"../",
    b"<script>",
    b"forall i in ",
    b"__class__",
    b"U",
    b"*",
    b"@",
)
LARGEST = 20_000
"""Bytes of an input, so that a time-out means a slow reader and not a long text."""
Mutation = Callable[[random.Random, bytes, Sequence[bytes]], bytes]


def mutated(chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after a few mutations, most often one or two."""
    data = chance.choice(seeds)
    for _ in range(1 + int(chance.expovariate(0.7))):
        data = chance.choice(MUTATIONS)(chance, data, seeds)
    return data[:LARGEST]


def _part(chance: random.Random, data: bytes) -> slice:
    start = chance.randrange(len(data) + 1)
    return slice(start, min(len(data), start + 1 + int(chance.expovariate(1 / 12))))


def _changed(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _cut(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    part = _part(chance, data)
    return data[: part.start] + data[part.stop :]


def _doubled(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    part = _part(chance, data)
    return data[: part.stop] + data[part] * chance.randrange(1, 5) + data[part.stop :]


def _sharp(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    part = _part(chance, data)
    end = part.stop if chance.random() < 0.5 else part.start
    return data[: part.start] + chance.choice(SHARP) + data[end:]


def _spliced(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def _lines_moved(chance: random.Random, data: bytes, seeds: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


MUTATIONS: tuple[Mutation, ...] = (_changed, _cut, _doubled, _sharp, _spliced, _lines_moved)
