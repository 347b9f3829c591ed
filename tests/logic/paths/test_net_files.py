"""Nets in files: the form in which `possibly paths --json` prints them, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from possibly.errors import PossiblyError
from possibly.logic.paths.compiled import compiled
from possibly.logic.paths.nets.files import read_net
from possibly.logic.paths.nets.net import Net, net
from possibly.logic.paths.parser import parse_path
from possibly.logic.source import Source
from possibly.session.checking.path_forms import expression_of_net
from possibly.views.cli.main import main

RING = {
    "initial": [1, 0, 0],
    "final": [0, 0, 1],
    "transitions": [
        {"event": "take", "inputs": [0], "outputs": [1]},
        {"event": "give", "inputs": [1], "outputs": [0]},
        {"event": "end", "inputs": [0], "outputs": [2]},
    ],
}


def printed(found: Net) -> str:
    rows = [
        {"event": t.label, "inputs": t.inputs, "outputs": t.outputs, "empty": t.empty}
        for t in found.transitions
    ]
    return json.dumps({"initial": found.initial, "final": found.final, "transitions": rows})


@pytest.mark.parametrize("text", ["a; b", "(a & b)*; c", "(a; b)@; c"])
def test_what_is_printed_is_read_again(text: str) -> None:
    found = net(compiled(parse_path(Source(text))))
    assert read_net(printed(found), "net.json") == found


def test_a_net_becomes_an_expression(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ring.json"
    file.write_text(json.dumps(RING))
    assert main(["paths", "--from-net", str(file)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == expression_of_net(json.dumps(RING), "ring.json")
    for events, fits in (("take give end", True), ("end", True), ("take end", False), ("give", False)):
        run = tmp_path / "run.jsonl"
        header = {"format": "possibly-trace", "version": 1, "processes": [{"name": "P"}]}
        lines = [{"p": "P", "label": event} for event in events.split()]
        run.write_text("\n".join(map(json.dumps, [header, *lines])))
        assert main(["check", str(run), "--expect", first]) == (0 if fits else 1), events
        capsys.readouterr()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not a JSON document"),
        ("[" * 100_000, "not a JSON document"),
        ("[]", "no object"),
        ('{"initial": [1], "final": [0, 1]}', "one number a place"),
        ('{"initial": [-1], "final": [0]}', "numbers from 0"),
        ('{"initial": [true], "final": [0]}', "numbers from 0"),
        ('{"initial": [1], "final": [0]}', "is a list"),
        ('{"initial": [1], "final": [0], "transitions": [{"event": 3}]}', "is a name"),
        ('{"initial": [1], "final": [0], "transitions": [{"inputs": [7]}]}', "numbers from 0 to 0"),
    ],
)
def test_anything_else_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(PossiblyError, match=reason):
        read_net(text, "net.json")


def test_one_question_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paths", "a", "--from-net", "net.json"]) == 2
    assert "give an expression, or a run" in capsys.readouterr().err
