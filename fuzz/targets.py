"""Who reads what strangers write, and what must hold: a `PossiblyError` or an answer, and nothing else.

A target is given the bytes of one input and a folder of its own. What it raises beside `PossiblyError` is an
error of ours; so is a file outside its folder, a time above the bound and memory above the limit, which the
runner (`__main__`) watches.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

from possibly.errors import PossiblyError
from possibly.logic.specification import Specification, property_from_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from possibly.views.web.live import LivePage

Target = Callable[[bytes, Path], object]
ROOT = Path(__file__).parent.parent


def command(*words: str) -> str:
    """What a command prints; whatever is wrong is a sentence and a status, and never a traceback."""
    from possibly.views.cli.main import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(list(words))
    if status not in (0, 1, 2, 3) or "Traceback" in err.getvalue():
        raise AssertionError(f"status {status}: {err.getvalue()}")
    return out.getvalue()


def _file(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def trace(data: bytes, folder: Path) -> None:
    """What was read and written again reads the same, in both readers."""
    from possibly.trace import read_trace, write_lines

    found = read_trace(io.BytesIO(data))
    lines = list(write_lines(found))
    again = read_trace(io.BytesIO(b"".join(_encoded(line) for line in lines)))
    assert list(write_lines(again)) == lines


def _encoded(line: str | bytes) -> bytes:
    return line if isinstance(line, bytes) else line.encode()


def twins(data: bytes, folder: Path) -> None:
    """The compiled reader and the plain one say the same, errors too."""
    from possibly.trace import read_trace
    from tests.twins import plain

    def said() -> str:
        try:
            found = read_trace(io.BytesIO(data))
            return repr([found.event(number) for number in range(len(found))])
        except PossiblyError as error:
            return str(error)

    compiled = said()
    with plain():
        assert said() == compiled


def checked(data: bytes, folder: Path) -> None:
    """A trace of a stranger under properties of ours."""
    path = _file(folder, "run.jsonl", data)
    words = ("--ctl", "AG(!(P1.x > 1 & P2.x > 1))", "--ltl", "F(P1.x == 1)", "--never", "a & b")
    command("check", path, *words, "--timeout", "2", "--max-cuts", "2000", "--json")


def columns(data: bytes, folder: Path) -> None:
    """The compact form, mapped into memory and read by compiled code."""
    from possibly.trace.columns.mapped import read_columns

    found = read_columns(_file(folder, "run.columns", data))
    for number in range(min(len(found), 50)):
        found.event(number)


def specification(data: bytes, folder: Path) -> None:
    """A specification file of a stranger on a run of ours."""
    path = _file(folder, "a.spec", data)
    run = str(ROOT / "examples" / "mutex" / "run.jsonl")
    command("check", run, "--spec", path, "--timeout", "2", "--max-cuts", "2000", "--json")


def paths(data: bytes, folder: Path) -> None:
    """A path expression, on a run with the events that it is about."""
    text = data.decode("utf-8", "replace").replace("\x00", " ")
    run = str(ROOT / "examples" / "ring-buffer" / "run.jsonl")
    command("check", run, f"--expect={text}", "--timeout", "2", "--json")


def model(data: bytes, folder: Path) -> None:
    """A model file, and its first states."""
    from itertools import islice

    from possibly.models.reader import read_model

    found = read_model(data.decode("utf-8", "replace"), "a.model")
    states = [found.initial]
    for state in islice(states, 20):
        states += [following for _, following in found.successors(state)]


def _imported(form: str, *words: str) -> Target:
    def target(data: bytes, folder: Path) -> None:
        command("import", form, _file(folder, "log", data), "-o", str(folder / "run.jsonl"), *words)

    return target


def protobuf(data: bytes, folder: Path) -> None:
    """A request of OTLP as protobuf."""
    from possibly.trace.importers.otlp_protobuf import request_of

    request_of(data)


def schedule(data: bytes, folder: Path) -> None:
    """A schedule, which a replay would follow."""
    from possibly.trace.schedule import parsed_schedule

    parsed_schedule(data.decode("utf-8", "replace"))


def tree(data: bytes, folder: Path) -> None:
    """A tree of executions or of macro-steps, drawn."""
    command("view", _file(folder, "a.tree", data), "-o", str(folder / "page.html"))


def history(data: bytes, folder: Path) -> None:
    """Operations of clients, from any of the formats."""
    from possibly.trace.histories.read import read_history

    read_history(data.decode("utf-8", "replace"))


def transactions(data: bytes, folder: Path) -> None:
    """A history of transactions, and whether they could have come one after another."""
    command("serializable", _file(folder, "history", data), "--timeout", "2")


def net(data: bytes, folder: Path) -> None:
    """A Petri net, made an expression."""
    command("paths", "--from-net", _file(folder, "net.json", data))


def resumed(data: bytes, folder: Path) -> None:
    """The file of a search that is to go on."""
    from possibly.control.forking.zygote import script
    from possibly.session.exploring.exploration import Exploration
    from possibly.session.exploring.resumed import Kept

    _file(folder, "program.py", b"")
    with script(("program.py",)) as program:
        Kept(_file(folder, "kept", data), ("program.py",), []).begin(program, Exploration())


def monitor(data: bytes, folder: Path) -> None:
    """What senders say to a monitor, with a formula that is followed."""
    from possibly.session.checking.check import Options
    from possibly.session.watching.intake import Connection, Intake
    from possibly.session.watching.watch import WatchedRun

    intake = Intake(WatchedRun(_safe(), Options(), keep=0))
    connection = Connection("stranger")
    intake.feed(connection, data)
    intake.end(connection)


def adapter(data: bytes, folder: Path) -> None:
    """Messages of an editor to the debug adapter; a request that makes no sense is answered."""
    from possibly.views.dap.serve import serve

    serve(io.BytesIO(data), io.BytesIO())


def page(data: bytes, folder: Path) -> None:
    """What a browser asks the live page."""
    body = json.loads(data)
    if isinstance(body, dict):
        _live_page().ask(str(body.get("ask")), body)


def _live_page() -> LivePage:
    from possibly.order.computation import Computation
    from possibly.session.checking.check import Options
    from possibly.trace import load
    from possibly.verdict.model import Report
    from possibly.views.web.live import LivePage, LiveRun

    path = str(ROOT / "examples" / "mutex" / "run.jsonl")
    trace = load(path)
    report = Report(path, len(trace.processes), len(trace), ())
    return LivePage(
        "a page", LiveRun(trace, Computation(trace), Options(timeout=2.0), Specification(), report)
    )


def _safe() -> Specification:
    formula = property_from_text("ctl", "AG(!(P1.x > 1 & P2.x > 1))", "safe")
    return Specification(properties=(formula,))


TARGETS: dict[str, Target] = {
    "trace": trace,
    "twins": twins,
    "checked": checked,
    "columns": columns,
    "specification": specification,
    "paths": paths,
    "model": model,
    "shiviz": _imported("shiviz"),
    "otlp": _imported("otlp"),
    "jaeger": _imported("jaeger"),
    "lines": _imported("lines", "--process", "p", "--send", "k=s*", "--receive", "k=r*", "--message", "m"),
    "protobuf": protobuf,
    "schedule": schedule,
    "tree": tree,
    "history": history,
    "transactions": transactions,
    "net": net,
    "resumed": resumed,
    "monitor": monitor,
    "adapter": adapter,
    "page": page,
}
EXPECTED: tuple[type[BaseException], ...] = (PossiblyError, json.JSONDecodeError)
"""The second is raised by `page` itself, as the server refuses what is no JSON before it asks."""


def run(name: str, data: bytes, folder: Path) -> None:
    """One input; raises what is an error of ours."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        TARGETS[name](data, folder)
    except EXPECTED:
        pass
    except UnicodeDecodeError:
        if name != "page":
            raise
    finally:
        os.chdir(before)
