"""A line of a log is one step where the standard library makes it, else as many as it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

LOGGING = """\
import io, logging, sys, threading
out = io.StringIO()
log = logging.getLogger("shop")
handler = logging.StreamHandler(out)
handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
log.addHandler(handler)
log.propagate = False
log.setLevel("INFO")
def say(*words):
    for word in words: log.info("%s", word)
{other}
tasks = [threading.Thread(target=say, args=("a",)), threading.Thread(target=other, name="other")]
for each in tasks: each.start()
for each in tasks: each.join()
lines = out.getvalue().splitlines()
{after}
"""


def holds(folder: Path, other: str, after: str) -> bool | None:
    found = explored(folder, LOGGING.format(other=other, after=after))
    assert found.complete or found.holds is False, found.open
    return found.holds


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_lines_come_in_any_order_and_whole(order: str, tmp_path: Path) -> None:
    other = "def other(): say('b')"
    told = [f"INFO {word}" for word in order]
    assert holds(tmp_path, other, f"assert lines != {told!r}") is False
    assert holds(tmp_path, other, "assert sorted(lines) == ['INFO a', 'INFO b']") is True


SETTING_UP = {
    "the handler is taken away": ("log.removeHandler(handler)", "[]"),
    "the list of handlers is another": ("log.handlers = []", "[]"),
    "the format is another": ("handler.setFormatter(logging.Formatter('%(message)s'))", "['a']"),
    "a part of the format is another": ("handler.formatter._style._fmt = '%(name)s'", "['shop']"),
    "the stream is another": ("handler.setStream(io.StringIO())", "[]"),
    "the level of the handler": ("handler.setLevel('ERROR')", "[]"),
    "the level as an attribute": ("handler.level = 50", "[]"),
    "a filter": ("handler.addFilter(lambda record: False)", "[]"),
    "the name of a level": ("logging.addLevelName(20, 'Note')", "['Note a']"),
    "the logger is disabled": ("log.disabled = True", "[]"),
    "the method is another": ("logging.StreamHandler.emit = lambda *given: None", "[]"),
}


@pytest.mark.parametrize("what", SETTING_UP)
def test_what_is_set_up_beside_a_line_comes_before_it_or_behind(what: str, tmp_path: Path) -> None:
    change, changed = SETTING_UP[what]
    other = f"def other():\n    {change}"
    assert holds(tmp_path, other, f"assert lines != {changed}") is False
    assert holds(tmp_path, other, "assert lines != ['INFO a']") is False
    assert holds(tmp_path, other, f"assert lines in (['INFO a'], {changed})") is True


OWN_HANDLER = """\
import logging, threading
log = logging.getLogger("shop")
class Counting(logging.Handler):
    count = 0
    def emit(self, record): self.count += 1
handler = Counting()
log.addHandler(handler)
def say(): log.warning("a")
def other(): {change}
tasks = [threading.Thread(target=say), threading.Thread(target=other)]
for each in tasks: each.start()
for each in tasks: each.join()
assert handler.count == 1
"""


@pytest.mark.parametrize(
    "change", ["log.removeHandler(handler)", "handler.setLevel(50)", "log.addFilter(lambda record: False)"]
)
def test_what_is_set_up_beside_a_handler_of_the_program_is_seen(change: str, tmp_path: Path) -> None:
    found = explored(tmp_path, OWN_HANDLER.format(change=change))
    assert found.failure is not None and found.failure.kind == "assertion"


MIDDLE = {
    "a word": (
        "class Word:\n    def __str__(self): return f'{shared} {shared}'\n"
        "shared = 0\nsay_word = lambda: log.info('%s', Word())\n"
        "def other():\n    global shared\n    shared = 1\n",
        "tasks[0] = threading.Thread(target=say_word)",
    ),
    "a handler": (
        "shared = 0\nclass Own(logging.StreamHandler):\n"
        "    def emit(self, record):\n        print(shared, shared, file=out)\n"
        "log.handlers[:] = [Own(out)]\ndef other():\n    global shared\n    shared = 1\n",
        "",
    ),
    "a formatter": (
        "shared = 0\nclass Own(logging.Formatter):\n"
        "    def format(self, record): return f'{shared} {shared}'\n"
        "handler.setFormatter(Own())\ndef other():\n    global shared\n    shared = 1\n",
        "",
    ),
    "a converter of times": (
        "shared = 0\nimport time\ndef convert(seconds):\n    print(shared, shared, file=out)\n"
        "    return time.gmtime(seconds)\nlogging.Formatter.converter = staticmethod(convert)\n"
        "handler.setFormatter(logging.Formatter('%(asctime)s'))\n"
        "def other():\n    global shared\n    shared = 1\n",
        "",
    ),
    "a style": (
        "shared = 0\ndef format(style, record): return f'{shared} {shared}'\n"
        "logging.PercentStyle.format = format\ndef other():\n    global shared\n    shared = 1\n",
        "",
    ),
    "the names of levels": (
        "shared = 0\ndef name(level): return f'{shared} {shared}'\n"
        "logging.getLevelName = name\ndef other():\n    global shared\n    shared = 1\n",
        "",
    ),
    "a stream": (
        "shared = 0\nclass Own:\n    def write(self, text): print(shared, shared, file=out)\n"
        "    def flush(self): pass\n"
        "handler.setStream(Own())\ndef other():\n    global shared\n    shared = 1\n",
        "",
    ),
}


@pytest.mark.parametrize("what", MIDDLE)
def test_code_of_the_program_in_the_middle_of_a_line_meets_others(what: str, tmp_path: Path) -> None:
    other, before = MIDDLE[what]
    text = LOGGING.replace("for each in tasks: each.start()", before + "\nfor each in tasks: each.start()")
    found = explored(
        tmp_path, text.format(other=other, after="assert not any('0 1' in each for each in lines)")
    )
    assert found.holds is False


def test_a_line_says_where_it_was_written_and_by_whom(tmp_path: Path) -> None:
    other = (
        "handler.setFormatter(logging.Formatter('%(filename)s:%(lineno)d %(funcName)s %(threadName)s'))\n"
        "def outer(): inner()\n"
        "def inner(): log.warning('b', stacklevel=2)\n"
        "def other():\n    log.warning('b'); outer(); logging.Logger._log(log, 30, 'b', ())"
    )
    after = (
        "assert {each for each in lines if 'other' in each} == "
        "{'program.py:15 other other', 'program.py:12 outer other'}, lines"
    )
    assert holds(tmp_path, other, after) is True


def test_what_goes_to_the_terminal_is_no_meeting(tmp_path: Path) -> None:
    program = LOGGING.replace("StreamHandler(out)", "StreamHandler()").format(
        other="def other(): say('b', 'c')", after=""
    )
    found = explored(tmp_path, program)
    assert found.complete, found.open
    assert found.executions - found.restarts <= 2
