"""The commands of the temporal debugger: a table, the same for a person, a script and a test.

The port. A `Command` has a name, a usage line, a summary, a function of (debugger, the rest of the line)
that yields a `Reply`, and perhaps completions. The files of MORE add commands by a
tuple `COMMANDS`. A command changes nothing but the debugger it is given, and
raises PossiblyError for what it cannot do: the session goes on. What it keeps between two calls lies in
`debugger.kept`. Long work asks `debugger.stack.watch` now and then whether to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any

from possibly.control.temporal.loops import TooManyPairsError, loop_of
from possibly.control.temporal.stack import Answer, Outcome, Step
from possibly.control.temporal.steps import StepSearch
from possibly.control.temporal.system import State, System
from possibly.control.temporal.why import why
from possibly.errors import FormulaError, UsageError
from possibly.logic.predicates.functions import MISSING
from possibly.logic.printer import unparse
from possibly.logic.syntax import Node
from possibly.session.debugging.temporal import (
    OPTION_WORDS,
    Debugger,
    changes,
    follow,
    parse_options,
    restore,
    saved,
    schedule_of,
    variables,
)
from possibly.views.cli.files import read_text, write_text
from possibly.views.text.words import count_text, plain, value_text

SHOWN_TRANSITIONS = 20
"""Of a step that was found; `path` shows all."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command says, as text and as data; `status` is 1 for an assertion that does not hold."""

    text: str
    data: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    ends: bool = False
    """The session is over."""


Run = Callable[[Debugger, str], Reply]
Complete = Callable[[Debugger], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    usage: str
    summary: str
    run: Run
    complete: Complete = lambda debugger: ()
    """Words that may stand after the name."""


MORE = ("macro", "pictures")
"""Files here that have further commands, which are imported only when somebody asks."""


@cache
def commands() -> dict[str, Command]:
    """All commands by name, those of other files included."""
    found = {command.name: command for command in COMMANDS}
    for module in MORE:
        added = import_module(f"possibly.views.cli.debugger.{module}").COMMANDS
        found.update({command.name: command for command in added})
    return found


def execute(debugger: Debugger, line: str) -> Reply:
    """Runs one line of a session; an empty one, or a comment, does nothing."""
    name, _, rest = line.strip().partition(" ")
    if not name or name.startswith("#"):
        return Reply("")
    known = commands()
    if name not in known:
        import difflib

        near = difflib.get_close_matches(name, known, n=1)
        raise UsageError(f"{name} is no command", hint=f"did you mean {near[0]}?" if near else "try help")
    return _following(debugger, lambda: known[name].run(debugger, rest.strip()))


def _following(debugger: Debugger, work: Callable[[], Reply]) -> Reply:
    """What a command says; a variable of the program that it speaks of for the first time is followed."""
    said: list[str] = []
    while True:
        try:
            reply = work()
        except FormulaError as error:
            steps = len(debugger.stack.steps)
            if error.variable is None or not follow(debugger, error.variable):
                raise
            again = "; the program begins again" if steps else ""
            said.append(f"{plain(error.variable)} is followed from now on{again}")
        else:
            return replace(reply, text="\n".join([*said, reply.text])) if said else reply


# ---- steps --------------------------------------------------------------------------------------


def split_options(text: str) -> tuple[str, list[str]]:
    """A formula, and the words of options at its end."""
    words = text.split()
    count = len(words)
    while count:
        if words[count - 1] in OPTION_WORDS and words[count - 1] != "bound":
            count -= 1
        elif count > 1 and words[count - 2] == "bound":
            count -= 2
        else:
            break
    options = words[count:]
    for word in reversed(options):
        text = text.rstrip().removesuffix(word)
    return text.rstrip(), options


def _step(debugger: Debugger, rest: str) -> Reply:
    formula, words = split_options(rest)
    if not formula:
        raise UsageError("step needs a formula", hint="step F(x == 1) min bound 20")
    return _answered(debugger, debugger.stack.step(formula, parse_options(words)))


def _next(debugger: Debugger, rest: str) -> Reply:
    if not rest:
        raise UsageError("next needs a process", hint=" ".join(debugger.system.vocabulary.processes))
    answer = debugger.stack.next(rest)
    if answer.outcome is Outcome.NONE:
        return Reply(f"{plain(rest)} can do nothing here", {"outcome": answer.outcome.value})
    return _answered(debugger, answer)


def _back(debugger: Debugger, rest: str) -> Reply:
    return _answered(debugger, debugger.stack.back(), again=True)


def _continue(debugger: Debugger, rest: str) -> Reply:
    return _answered(debugger, debugger.stack.resume())


def _pop(debugger: Debugger, rest: str) -> Reply:
    step = debugger.stack.pop()
    return Reply(f"removed: {plain(step.text)}", {"removed": step.text})


def _clear(debugger: Debugger, rest: str) -> Reply:
    count = len(debugger.stack.steps)
    debugger.stack.clear()
    return Reply(f"removed {count_text(count, 'step')}", {"removed": count})


def _caveats(debugger: Debugger) -> Iterable[str]:
    """Why the answer that there is no step may leave something out."""
    found: Callable[[Node | None], Iterable[str]] = getattr(debugger.system, "caveats", lambda formula: ())
    return found(debugger.stack.failed[0] if debugger.stack.failed is not None else None)


def _answered(debugger: Debugger, answer: Answer, again: bool = False) -> Reply:
    data: dict[str, Any] = {"outcome": answer.outcome.value, "visited": answer.visited}
    pairs = count_text(answer.visited, "pair")
    notes = [f"note: {plain(fault)} (counts as false)" for fault in answer.faults]
    if answer.step is not None:
        data["step"] = step_data(debugger, answer.step)
        lines = [_found_line(debugger, answer.step, pairs), *_path_lines(debugger.system, answer.step)]
        return Reply("\n".join([*lines, *_loop_lines(answer.step), *notes]), data)
    notes += [f"note: {plain(caveat)}" for caveat in _caveats(debugger)]
    if answer.outcome is Outcome.STOPPED:
        text = f"stopped after {pairs}; the stack is as before, `continue` goes on searching"
    elif again:
        bound = " within the bound" if answer.outcome is Outcome.CUT else ""
        text = f"no other step{bound} ({pairs}); the step is removed"
    elif answer.outcome is Outcome.CUT:
        text = f"no step within the bound ({pairs}); a longer one may exist"
    else:
        text = f"no step: no sequence from here satisfies it ({pairs}); `why` says which part"
    return Reply("\n".join([text, *notes]), data)


def _found_line(debugger: Debugger, step: Step, pairs: str) -> str:
    number = len(debugger.stack.steps)
    which = "" if step.found == 1 else f", way {step.found}"
    by_chance = "; met by chance, there may be shorter ones" if step.path.is_guess else ""
    return f"step {number}{which}: {count_text(len(step.path.moves), 'transition')} ({pairs}{by_chance})"


def _loop_lines(step: Step) -> list[str]:
    if step.path.loop is None:
        return []
    return [f"there are arbitrarily long steps: a cycle leads back to state {step.path.loop} of this one"]


def step_data(debugger: Debugger, step: Step) -> dict[str, Any]:
    """A step for programs."""
    return {
        "formula": step.text,
        "options": list(step.options.words()),
        "transitions": [move.name for move in step.path.moves],
        "way": step.found,
        "loop": step.path.loop,
    }


def _path_lines(system: System, step: Step, most: int | None = SHOWN_TRANSITIONS) -> list[str]:
    moves, states = step.path.moves, step.path.states
    skipped = 0 if most is None else max(0, len(moves) - most)
    lines = [f"  … {count_text(skipped, 'transition')} not shown (`path` shows all)"] if skipped else []
    width = max((len(plain(move.name)) for move in moves[skipped:]), default=0)
    before = variables(system, states[skipped])
    for move, state in zip(moves[skipped:], states[skipped + 1 :], strict=True):
        after = variables(system, state)
        lines.append(_move_line(move.name, move.text, getattr(move, "failure", None), before, after, width))
        before = after
    return lines


def _move_line(
    name: str,
    text: str,
    failure: str | None,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    width: int,
) -> str:
    changed = [change_text(key, *pair) for key, pair in changes(before, after).items()]
    line = f"  {plain(name):<{width}}  {plain(text)}"
    if failure is not None:
        line += f"  FAILS: {plain(failure)}"
    return f"{line:<{width + 34}}  {', '.join(changed)}".rstrip() if changed else line.rstrip()


def change_text(name: str, old: Any, new: Any) -> str:
    if old is MISSING:
        return f"{plain(name)} = {value_text(new)}"
    return f"{plain(name)}: {value_text(old)} -> {'none' if new is MISSING else value_text(new)}"


# ---- looking ------------------------------------------------------------------------------------


def _stack(debugger: Debugger, rest: str) -> Reply:
    lines = [f"0  start: {plain(debugger.path)}"]
    for number, step in enumerate(debugger.stack.steps, start=1):
        options = " ".join(step.options.words())
        shown = plain(step.text) + (f"  [{options}]" if options else "")
        lines.append(f"{number}  {shown}: {count_text(len(step.path.moves), 'transition')}")
    steps = [step_data(debugger, step) for step in debugger.stack.steps]
    return Reply("\n".join(lines), {"steps": steps})


def state_data(system: System, state: State) -> dict[str, Any]:
    return {"places": dict(system.places(state)), "variables": variables(system, state)}


def _state(debugger: Debugger, rest: str) -> Reply:
    system, state = debugger.system, debugger.stack.state
    places = system.places(state)
    width = max(map(len, places), default=0)
    lines = [f"{plain(process):<{width}}  {plain(place)}" for process, place in places.items()]
    enabled = [move.name for move, _ in system.successors(state)]
    lines.append(f"possible next: {', '.join(map(plain, enabled)) or 'nothing (deadlock or end)'}")
    return Reply("\n".join(lines), {**state_data(system, state), "enabled": enabled})


def _vars(debugger: Debugger, rest: str) -> Reply:
    values = variables(debugger.system, debugger.stack.state)
    wanted = {name: value for name, value in values.items() if not rest or name.startswith(rest)}
    lines = [f"{plain(name)} = {value_text(value)}" for name, value in wanted.items()]
    return Reply("\n".join(lines) or "no variable has a value here", {"variables": wanted})


def _path(debugger: Debugger, rest: str) -> Reply:
    lines: list[str] = []
    for number, step in enumerate(debugger.stack.steps, start=1):
        lines.append(f"step {number}: {plain(step.text)}")
        lines += _path_lines(debugger.system, step, most=None)
    names = [move.name for move in debugger.stack.moves]
    return Reply("\n".join(lines) or "the stack is empty", {"transitions": names})


def _eval(debugger: Debugger, rest: str) -> Reply:
    if not rest:
        raise UsageError("eval needs an expression", hint='eval x + 1, eval at(P0, "m2")')
    value, faults = debugger.stack.evaluate(rest)
    if value is MISSING:
        return Reply(f"no value{f': {plain(faults[0])}' if faults else ''}", {"value": None})
    return Reply(value_text(value), {"value": value})


def _assert(debugger: Debugger, rest: str) -> Reply:
    if not rest:
        raise UsageError("assert needs an expression", hint="assert x == 1")
    value, _ = debugger.stack.evaluate(rest)
    holds = value is not MISSING and bool(value)
    return Reply("holds" if holds else f"does not hold: {plain(rest)}", {"holds": holds}, status=not holds)


def _why(debugger: Debugger, rest: str) -> Reply:
    stack = debugger.stack
    if stack.failed is None:
        raise UsageError("the last step was found: nothing to explain")
    formula, options = stack.failed

    def check(searches: int) -> None:
        if not stack.watch(searches):
            raise KeyboardInterrupt

    found = why(stack.system, stack.state, formula, options, check)
    core = unparse(found.core)
    same = found.core == formula
    lines = [
        "every part of it is needed for the failure:" if same else "this part of it already fails from here:",
        f"  {plain(core)}",
    ]
    atoms = [unparse(atom) for atom in found.needed]
    if atoms:
        lines.append(f"the predicates that matter: {', '.join(map(plain, atoms))}")
    return Reply("\n".join(lines), {"core": core, "atoms": atoms, "searches": found.searches})


def _cycle(debugger: Debugger, rest: str) -> Reply:
    stack = debugger.stack
    step = stack.steps[-1] if stack.steps else None
    if step is None or step.formula is None:
        raise UsageError("cycle speaks of the last step, which must have a formula")
    product = StepSearch(stack.system, step.formula, step.path.states[0], step.options).product

    def check(visited: int) -> None:
        if not stack.watch(visited):
            raise KeyboardInterrupt

    try:
        loop = loop_of(product, check)
    except TooManyPairsError:
        return Reply("not decided: there are too many pairs", {"cycle": None})
    if loop is None:
        return Reply("no: the steps that satisfy it have a greatest length", {"cycle": False})
    text = f"yes: a cycle of {count_text(len(loop), 'state')} allows arbitrarily long steps"
    return Reply(text, {"cycle": True, "length": len(loop)})


# ---- sessions -----------------------------------------------------------------------------------


def _save(debugger: Debugger, rest: str) -> Reply:
    if not rest:
        raise UsageError("save needs a file")
    write_text(rest, schedule_of(debugger) if rest.endswith(".schedule") else saved(debugger))
    return Reply(f"saved: {plain(rest)}", {"file": rest})


def _load(debugger: Debugger, rest: str) -> Reply:
    if not rest:
        raise UsageError("load needs a file")
    restore(debugger, read_text(rest), rest)
    count = count_text(len(debugger.stack.steps), "step")
    return Reply(f"loaded: {count}", {"steps": len(debugger.stack.steps)})


def _help(debugger: Debugger, rest: str) -> Reply:
    known = commands()
    if rest and rest not in known:
        raise UsageError(f"{rest} is no command", hint="help lists them")
    chosen = [known[rest]] if rest else list(known.values())
    width = max(len(command.usage) for command in chosen)
    lines = [f"  {command.usage:<{width}}  {command.summary}" for command in chosen]
    return Reply("\n".join(lines), {"commands": [command.name for command in chosen]})


def _quit(debugger: Debugger, rest: str) -> Reply:
    return Reply("", ends=True)


# ---- the table ----------------------------------------------------------------------------------


def _processes(debugger: Debugger) -> Iterable[str]:
    return debugger.system.vocabulary.processes


def names(debugger: Debugger) -> Iterable[str]:
    """What formulas speak of."""
    vocabulary = debugger.system.vocabulary
    yield from sorted(vocabulary.shared)
    for process in vocabulary.processes:
        yield process
        yield from (f"{process}.{name}" for name in sorted(vocabulary.locals.get(process, ())))
        yield f"at({process}"


def _step_words(debugger: Debugger) -> Iterable[str]:
    return (*names(debugger), *OPTION_WORDS)


COMMANDS = (
    Command("step", "step FORMULA [min|max|each] [bound N]", "search a sequence from here that satisfies it "
            "(also: all, new-ends, new-paths, memoryless, tableau)", _step, _step_words),
    Command("next", "next PROCESS", "execute one statement of a process", _next, _processes),
    Command("back", "back", "backtrack the last step: another way to satisfy it", _back),
    Command("continue", "continue", "go on with a search that was stopped", _continue),
    Command("pop", "pop", "remove the last step", _pop),
    Command("clear", "clear", "remove all steps", _clear),
    Command("stack", "stack", "list the steps", _stack),
    Command("state", "state", "where each process is, and what can happen next", _state),
    Command("vars", "vars [PREFIX]", "the variables and their values", _vars, names),
    Command("path", "path", "every transition from the start to here, with what it changes", _path),
    Command("eval", "eval EXPRESSION", "the value of an expression here", _eval, names),
    Command("assert", "assert EXPRESSION", "the exit status is 1 if it does not hold here", _assert, names),
    Command("why", "why", "which part of the last formula could not be satisfied", _why),
    Command("cycle", "cycle", "whether the last formula allows arbitrarily long steps", _cycle),
    Command("save", "save FILE", "write the session to a file", _save),
    Command("load", "load FILE", "take up a session from a file", _load),
    Command("help", "help [COMMAND]", "list the commands", _help, lambda debugger: commands()),
    Command("quit", "quit", "end the session", _quit),
)  # fmt: skip
