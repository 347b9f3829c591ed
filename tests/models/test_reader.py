"""What a model file may say, and what is said of one that says something else."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from possibly.errors import PossiblyError
from possibly.models.model import Model
from possibly.models.reader import is_model, read_model

CASES = int(os.environ.get("POSSIBLY_CASES", "1"))
MODELS = sorted((Path(__file__).parents[2] / "examples" / "models").glob("*.py"))
WORDS = (
    "x fork = + ( ) [ ] , : while if for in range 1 True None atomic with wait send receive choose".split()
)

HEAD = "x = 0\na = [0, 0]\nc = channel(2)\n\ndef f(n):\n    return n + 1\n\ndef g(n):\n    wait(n > 0)\n\n"
PROCESS = "@process\ndef P():\n    global x\n"

MISTAKES = [
    ("x = 1 +", "m.py:1:8: not Python"),
    ("x = 0\n", "a model has at least one process"),
    ("import os\n@process\ndef P():\n    pass\n", "m.py:1:1: `import os` has no place at the top"),
    (f"{HEAD}{PROCESS}    del x\n", "m.py:14:5: `del x` is no statement of model files"),
    (f"{HEAD}{PROCESS}    print(x)\n", "m.py:14:5: print is no function that can be called here"),
    (f"{HEAD}{PROCESS}    x = y\n", "m.py:14:9: y is not defined"),
    (f"{HEAD}{PROCESS}    x = x.real\n", "x.real is no expression of model files"),
    (f"{HEAD}{PROCESS}    x = x ** 2\n", "the operator of x ** 2 is not part"),
    (f"{HEAD}{PROCESS}    x = lambda: 1\n", "is no expression of model files"),
    (f"{HEAD}{PROCESS}    x = len(receive(c))\n", "receive cannot be called in an expression"),
    (f"{HEAD}{PROCESS}    x = g(1) + 1\n", "g is more than one expression"),
    (f"{HEAD}{PROCESS}    x = f(1, 2)\n", "f takes 1 arguments, not 2"),
    (f"{HEAD}{PROCESS}    a = 1\n", "a is assigned here and global as well"),
    (f"{HEAD}{PROCESS}    c[0] = 1\n", "c has no such element to assign"),
    (f"{HEAD}{PROCESS}    send(a, 1)\n", "a is no variable that can be assigned"),
    (f"{HEAD}{PROCESS}    send(x, 1)\n", "x is no channel"),
    (f"{HEAD}{PROCESS}    for i in range(x):\n        pass\n", "the range of a loop is constant"),
    (f"{HEAD}{PROCESS}    for i in range(3):\n        i = 1\n", "i counts a loop and is assigned in it"),
    (f"{HEAD}{PROCESS}    return 1\n", "a process returns nothing"),
    ("def f():\n    f()\n\n@process\ndef P():\n    f()\n", "m.py:2:5: f calls itself"),
    (
        "def f(n):\n    return f(n)\n\nx = 0\n@process\ndef P():\n    global x\n    x = f(x)\n",
        "f calls itself",
    ),
    ("@process\ndef P():\n    global y\n    y = 1\n", "there is no global variable y"),
    ("x = 0\nx = 1\n@process\ndef P():\n    pass\n", "m.py:2:1: x is defined twice"),
    ("@process(0)\ndef P(i):\n    pass\n", "@process takes the number of processes"),
    ("@process\ndef P(i):\n    pass\n", "a process like P has no parameter"),
    ("c = channel(0)\n@process\ndef P():\n    pass\n", "a channel holds 1 to 1000 messages"),
    ("a = [0] * 10 ** 9\n@process\ndef P():\n    pass\n", "not part of model files"),
    ("@cached\ndef P():\n    pass\n", "P has an unknown decorator"),
    ("x = 0\0\n", "not Python"),
    (
        "N = 1\n@process\ndef P():\n    while True:\n        if N == 2:\n            pass\n",
        "an endless loop in which",
    ),
    (f"x = {2**300}\n@process\ndef P():\n    pass\n", "m.py:1:5: a number of more than 256 bits"),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_mistakes_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(PossiblyError) as caught:
        read_model(text, "m.py")
    assert message in str(caught.value)


@pytest.mark.parametrize("seed", range(150 * CASES))
def test_broken_models_are_refused_with_a_sentence(seed: int) -> None:
    """Characters and lines of the examples taken out, put in and exchanged."""
    random = Random(seed)
    text = random.choice(MODELS).read_text(encoding="utf-8")
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(text))
        lines = text.splitlines(keepends=True)
        match random.randrange(3):
            case 0:
                text = text[:place] + text[place + random.randint(1, 8) :]
            case 1:
                text = text[:place] + random.choice(WORDS) + text[place:]
            case _:
                one, two = random.randrange(len(lines)), random.randrange(len(lines))
                lines[one], lines[two] = lines[two], lines[one]
                text = "".join(lines)
    try:
        model = read_model(text, "m.py")
        for _, state in model.successors(model.initial):
            model.self_check(state)
    except PossiblyError as error:
        assert error.message


def test_nothing_of_a_model_is_executed() -> None:
    """A call of something unknown is refused before anything happens."""
    with pytest.raises(PossiblyError):
        read_model("x = __import__('os').system('false')\n@process\ndef P():\n    pass\n", "m.py")


def test_a_model_is_told_from_a_program() -> None:
    assert is_model("@process\ndef P():\n    pass\n")
    assert is_model("@process(3)\ndef P(i):\n    pass\n")
    assert not is_model("import threading\nprint(1)\n")
    assert not is_model("x = (")


def test_labels_and_lines_name_the_nodes() -> None:
    body = "    x = 1  #: first\n    x = '#: no'\n    if x == 1:  #: test\n        pass\n"
    text = f"x = 0\n@process\ndef P():\n    global x\n{body}"
    model = read_model(text, "m.py")
    nodes = model.processes[0].graph.nodes
    assert [node.name for node in nodes] == ["first", "6", "test", "8"]
    assert nodes[0].labels == ("first", "5") and nodes[1].labels == ("6",)
    assert {"first", "5", "6", "test", "failed"} <= model.labels


def test_while_true_and_constant_tests_have_no_node() -> None:
    body = "        if N > 1:\n            pass\n        else:\n            assert False\n"
    text = f"N = 2\n@process\ndef P():\n    while True:\n{body}"
    (process,) = read_model(text, "m.py").processes
    assert [node.text for node in process.graph.nodes] == ["pass"]


def test_constants_are_no_part_of_the_states() -> None:
    model = read_model("N = 5\nx = 0\n@process\ndef P():\n    global x\n    x = N\n", "m.py")
    assert set(model.shared) == {"x"} and model.constants == {"N": 5}
    assert model.variable(None, "N").value(model.initial) == 5


def executed(text: str) -> tuple[Model, int, list[str]]:
    """The only run of a model with one process: the model, its last state, the labels passed."""
    model = read_model(text, "m.py")
    state, names = model.initial, []
    while following := model.successors(state):
        ((transition, state),) = following
        names.append(transition.label)
    return model, state, names


def test_the_size_of_an_array_is_constant() -> None:
    body = "    for i in range(len(a)):\n        a[i][len(a[0]) - 1] = i\n"
    model, state, _ = executed(f"a = [[0, 0, 0], [0, 0, 0]]\n@process\ndef P():\n{body}")
    assert model.variable(None, "a").value(state) == [[0, 0, 0], [0, 0, 1]]


HELPERS = """\
x = 0

def twice(n):
    return n + n

def put(n):
    global x
    x = twice(n) + twice(1)

@process
def P():
    while True:
        break
    if x == 1:
        pass
    elif x == 0:  #: second
        put(3)
    else:
        pass
"""


def test_else_if_and_nested_calls() -> None:
    model, state, names = executed(HELPERS)
    assert names == ["14", "second", "8"]
    assert model.variable(None, "x").value(state) == 8
