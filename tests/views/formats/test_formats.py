"""Formats for CI: the same answers in each, at the lines of the user's source, safe whatever a trace says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import yaml

from possibly.records import replace
from possibly.trace.place import Place
from possibly.verdict.model import Truth
from possibly.views.cli.main import main
from possibly.views.formats.findings import Finding, Findings, Mark
from possibly.views.formats.of_check import findings_of_report
from possibly.views.formats.places import Locator
from possibly.views.formats.render import RENDERERS, rendered
from tests.views.conftest import SAFE, TRUE
from tests.views.formats.sarif_schema import LOG
from tests.views.samples import HOLDS, UNKNOWN, VIOLATED, mutex_trace, report_of

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[3]
EVIL = 'a\nb%::error ::\x1b]0;x\x07 <&"\u202e, file=b:1'
RACY = """\
import threading

total = 0


def first():
    global total
    total += 1


def second():
    global total
    total += 2


threads = [threading.Thread(target=each, name=each.__name__) for each in (first, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def sarif_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, LOG)
    return found


def places_of(result: dict[str, Any]) -> list[tuple[str, int]]:
    physical = [each["physicalLocation"] for each in result["locations"]]
    return [(each["artifactLocation"]["uri"], each["region"]["startLine"]) for each in physical]


def test_the_schema_can_refuse(run: Path, capsys: Capture) -> None:
    assert main(["check", str(run), "--ctl", SAFE, "--format", "sarif"]) == 1
    found = json.loads(capsys.readouterr().out)
    for spoilt in ({**found, "version": "2.0.0"}, {**found, "more": 1}, {"version": "2.1.0"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoilt, LOG)


def test_sarif_of_a_check(run: Path, capsys: Capture) -> None:
    Path("peer.py").write_text("\n" * 20, encoding="utf-8")
    assert main(["check", str(run), "--ctl", SAFE, "--ctl", TRUE, "--format", "sarif"]) == 1
    (of_run,) = sarif_of(capsys.readouterr().out)["runs"]
    (result,) = of_run["results"]
    assert (result["ruleId"], result["level"]) == ("ctl1", "error")
    assert places_of(result) == [("peer.py", 10)]
    assert [rule["id"] for rule in of_run["tool"]["driver"]["rules"]] == ["ctl1", "ctl2"]
    flow = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [each["location"]["physicalLocation"]["region"]["startLine"] for each in flow] == [3, 4, 9, 10]
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 6


def test_junit_of_a_check(run: Path, capsys: Capture) -> None:
    assert main(["check", str(run), "--ctl", SAFE, "--ctl", TRUE, "--format", "junit"]) == 1
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "1", "0")
    bad, good = root.iter("testcase")
    assert (bad.get("name"), bad.get("line"), len(good)) == ("ctl1", "10", 0)
    assert "A failing order" in (bad.findtext("failure") or "")


def test_github_of_a_check(run: Path, capsys: Capture) -> None:
    assert main(["check", str(run), "--ctl", SAFE, "--ctl", TRUE, "--format", "github"]) == 1
    error, notice = capsys.readouterr().out.splitlines()
    assert error.startswith("::error file=peer.py,line=10,title=possibly%3A ctl1::VIOLATED  ctl1")
    assert notice.startswith("::notice file=peer.py,line=6,title=possibly%3A ctl1::P1:3")


@pytest.mark.parametrize("name", ["github", "junit", "sarif"])
def test_an_open_verdict_is_never_silent(name: str) -> None:
    text = rendered([findings_of_report(report_of(UNKNOWN), mutex_trace(), ())], name)
    assert "slow is undecided: 1,000 cuts were visited" in text.replace("%25", "%") or name == "github"
    marks = {"github": "::warning ", "junit": '<error message="slow', "sarif": '"level": "warning"'}
    assert marks[name] in text


@pytest.mark.parametrize("name", ["github", "junit", "sarif"])
def test_a_trace_that_cannot_be_read_is_an_error_in_every_format(
    name: str, run: Path, capsys: Capture
) -> None:
    Path("bad.jsonl").write_text("rubbish\n", encoding="utf-8")
    assert main(["check", "bad.jsonl", str(run), "--ctl", TRUE, "--format", name]) == 2
    captured = capsys.readouterr()
    assert "possibly: bad.jsonl:1" in captured.err
    if name == "github":
        assert captured.out.startswith("::error title=possibly::bad.jsonl:1")
    elif name == "junit":
        assert ElementTree.fromstring(captured.out).get("errors") == "1"
    else:
        (invocation,) = sarif_of(captured.out)["runs"][0]["invocations"]
        assert not invocation["executionSuccessful"]
        assert "bad.jsonl:1" in invocation["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.parametrize("name", RENDERERS)
def test_nothing_that_a_trace_says_breaks_a_format(name: str) -> None:
    mark = Mark(EVIL, Place(EVIL, 3))
    finding = Finding(EVIL, EVIL, Truth.VIOLATED, EVIL, EVIL, 0.1, (mark,), (mark,), (mark,))
    text = rendered([Findings(EVIL, (finding,)), Findings(EVIL, error=EVIL)], name)
    assert "\x1b" not in text and "\u202e" not in text
    if name == "github":
        assert [line.split()[0] for line in text.splitlines()] == ["::error", "::notice", "::error"]
    elif name == "junit":
        assert len(list(ElementTree.fromstring(text).iter("testcase"))) == 2
    else:
        sarif_of(text)


@pytest.mark.parametrize("name", RENDERERS)
def test_nothing_found_is_a_valid_document(name: str) -> None:
    text = rendered([findings_of_report(report_of(HOLDS), mutex_trace(), ())], name)
    assert "safe" in text if name != "github" else text == ""
    if name == "sarif":
        assert sarif_of(text)["runs"][0]["results"] == []


def test_without_a_trace_the_place_is_the_specification(tmp_path: Path, capsys: Capture) -> None:
    trace = tmp_path / "run.jsonl"
    lines = (ROOT / "examples/mutex/run.jsonl").read_text(encoding="utf-8").splitlines()
    bare = [{key: each[key] for key in each if key != "at"} for each in map(json.loads, lines)]
    trace.write_text("".join(json.dumps(each) + "\n" for each in bare), encoding="utf-8")
    spec = tmp_path / "mutex.spec"
    spec.write_text("# two\nctl mutex = AG(!(P1.critical & P2.critical))\n", encoding="utf-8")
    assert main(["check", str(trace), "--spec", str(spec), "--format", "sarif"]) == 1
    (result,) = sarif_of(capsys.readouterr().out)["runs"][0]["results"]
    ((file, line),) = places_of(result)
    assert file.endswith("mutex.spec") and line == 2


def test_a_race_is_annotated_at_both_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("racy.py").write_text(RACY, encoding="utf-8")
    assert main(["run", "--races", "--format", "sarif", "racy.py"]) == 1
    results = sarif_of(capfd.readouterr().out)["runs"][0]["results"]
    assert {place for each in results for place in places_of(each)} == {("racy.py", 8), ("racy.py", 13)}
    assert main(["run", "--races", "--format", "github", "racy.py"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert {line.split(",title")[0] for line in lines} == {
        "::error file=racy.py,line=8",
        "::error file=racy.py,line=13",
    }


def test_what_the_program_prints_is_not_in_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loud.py").write_text("print('LOUD')\n", encoding="utf-8")
    assert main(["run", "--races", "--format", "junit", "loud.py"]) == 0
    captured = capfd.readouterr()
    assert ElementTree.fromstring(captured.out).get("failures") == "0"
    assert "LOUD" in captured.err


@pytest.mark.parametrize("bug", ["lost-update", "lock-order"])
def test_explore(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(ROOT)
    program = f"examples/bugs/{bug}/buggy.py"
    words = ["explore", "-o", str(tmp_path / "x.schedule"), "--format"]
    assert main([*words, "sarif", program]) == 1
    (result,) = sarif_of(capsys.readouterr().out)["runs"][0]["results"]
    source = Path(program).read_text(encoding="utf-8").splitlines()
    wanted = {"lost-update": "assert", "lock-order": "with"}[bug]
    assert wanted in source[places_of(result)[0][1] - 1]
    assert result["codeFlows"]
    assert main([*words, "github", f"examples/bugs/{bug}/fixed.py"]) == 0
    assert capsys.readouterr().out == ""


def test_a_search_that_is_not_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    program = str(ROOT / "examples/bugs/philosophers/fixed.py")
    assert main(["explore", "--executions", "1", "--format", "junit", program]) == 3
    (error,) = ElementTree.fromstring(capsys.readouterr().out).iter("error")
    assert "the limit of 1 executions" in (error.get("message") or "")


def test_json_is_a_format(run: Path, capsys: Capture) -> None:
    documents = []
    for words in (["--json"], ["--format", "json"], ["--json", "--format", "json"]):
        assert main(["check", str(run), "--ctl", SAFE, *words]) == 1
        documents.append(json.loads(capsys.readouterr().out)["properties"][0]["verdict"])
    assert documents == ["violated"] * 3
    assert main(["check", str(run), "--ctl", SAFE, "--json", "--format", "sarif"]) == 2
    assert capsys.readouterr().err == "possibly: --json and --format sarif at once (leave one of them out)\n"


def test_colours_stay_out(run: Path, capsys: Capture) -> None:
    assert main(["check", str(run), "--ctl", SAFE, "--format", "junit", "--color", "always"]) == 1
    assert "x1b" not in capsys.readouterr().out


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "bank.py").touch()
    monkeypatch.chdir(tmp_path)
    locator = Locator(("deep", ""))
    assert locator.place("bank.py:7") == Place("deep/bank.py", 7)
    assert locator.place("deep/bank.py:7") == Place("deep/bank.py", 7)
    assert locator.place("gone.py:7") == Place("gone.py", 7)
    for text in (None, "", "bank.py", ":3", "a:0", "a:-1", "a:99999999"):
        assert locator.place(text) is None
    monkeypatch.chdir(tmp_path / "deep")
    assert Locator(("..",)).place("deep/bank.py:1") == Place("bank.py", 1)


def test_a_joint_event_falls_back_to_the_last_place() -> None:
    verdict = replace(VIOLATED, explanation=replace(VIOLATED.explanation, moment=1))
    (finding,) = findings_of_report(report_of(verdict), mutex_trace(), ()).findings
    assert finding.places[0].place == Place("peer.py", 3)


def test_the_action_and_the_hook_say_what_the_commands_know() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    script = " ".join(step.get("run", "") for step in action["runs"]["steps"])
    assert "--format github" in script
    assert set(action["inputs"]) == {"command", "arguments", "python"}
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["id"] for hook in hooks} == {"possibly-check", "possibly-explore"}
    assert all(hook["entry"].split()[0] == "possibly" and hook["language"] == "python" for hook in hooks)


def test_a_property_is_marked_where_it_is_violated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    body = "import threading\nn = 0\ndef add():\n    global n\n    n += 1\n"
    start = "one, two = threading.Thread(target=add), threading.Thread(target=add)\n"
    ends = "one.start(); two.start()\none.join(); two.join()\nassert n\n"
    Path("two.py").write_text(body + start + ends)
    assert main(["explore", "--ctl", "AG(n <= 1)", "--format", "github", "two.py"]) == 1
    assert capsys.readouterr().out.startswith("::error file=two.py,line=5,")
