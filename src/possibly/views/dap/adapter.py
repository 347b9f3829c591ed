"""The requests of the Debug Adapter Protocol, a method each, over a walk through what is debugged.

A thread is a process, task, thread or rank of the run. Stepping a thread lets it go on: the schedule is in
the user's hands. Stepping back and reverse continue go the way back; continue goes on to a breakpoint, to
where a temporal formula is satisfied, to what goes wrong, or to the end. In the console, an expression is
evaluated where we are; `step FORMULA`, `next P1`, `decides` and `order` are commands.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from possibly.errors import PossiblyError, UsageError
from possibly.logic.languages import LANGUAGES
from possibly.session.debugging.walking import Asked, Walk, walk_of
from possibly.views.dap import shown
from possibly.views.dap.protocol import Channel, Message
from possibly.views.dap.stops import FAILURE, FILTERS, Stops
from possibly.views.text.words import plain, value_text

DECIDES = 1
"""The target of `goto` that is the moment which decides."""
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsFunctionBreakpoints": True,
    "supportsConditionalBreakpoints": True,
    "supportsEvaluateForHovers": True,
    "supportsStepBack": True,
    "supportsGotoTargetsRequest": True,
    "supportsRestartRequest": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "supportsSteppingGranularity": False,
    "supportsSetVariable": True,
    "exceptionBreakpointFilters": FILTERS,
}


class Adapter:
    """One client's session."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.walk_found: Walk | None = None
        self.asked: Asked | None = None
        self.stops = Stops()
        self.references = shown.References()
        self.is_over = False
        self._stop_on_entry = True
        self._thread = 1
        self._true: set[str] = set()

    def handle(self, request: Message) -> None:
        """Answers one request, whatever it is."""
        command = str(request.get("command", ""))
        arguments = request.get("arguments")
        if request.get("type") != "request" or command not in REQUESTS:
            self.channel.answer(request, error=f"there is no request {plain(command)!r}")
            return
        try:
            body = REQUESTS[command](self, arguments if isinstance(arguments, dict) else {})
        except PossiblyError as error:
            self.channel.answer(request, error=plain(str(error)))
            return
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            self.channel.answer(request, error=f"the arguments of {command} do not fit: {plain(str(error))}")
            return
        self.channel.answer(request, body)
        self._afterwards(command)

    @property
    def walk(self) -> Walk:
        if self.walk_found is None:
            raise UsageError("nothing is debugged yet", hint="launch comes first")
        return self.walk_found

    def close(self) -> None:
        if self.walk_found is not None:
            self.walk_found.close()
            self.walk_found = None

    # ---- beginning and end ------------------------------------------------------------------------

    def _initialize(self, _: Message) -> Message:
        return CAPABILITIES

    def _launch(self, arguments: Message) -> None:
        program = arguments.get("program")
        if not isinstance(program, str):
            raise UsageError(
                "launch needs `program`", hint="a trace, a schedule, a model or a Python program"
            )
        if isinstance(arguments.get("cwd"), str):
            os.chdir(arguments["cwd"])
        formulas = tuple((each, str(arguments[each])) for each in LANGUAGES if arguments.get(each))
        words = tuple(map(str, arguments.get("args", ())))
        order, spec = str(arguments.get("order", "causal")), arguments.get("spec")
        self.asked = Asked(program, order, words, None if spec is None else str(spec), formulas)
        self._stop_on_entry = bool(arguments.get("stopOnEntry", True))
        self.walk_found = walk_of(self.asked)

    def _restart(self, _: Message) -> None:
        self.walk.to_start()

    def _configured(self, _: Message) -> None:
        pass

    def _disconnect(self, _: Message) -> None:
        self.is_over = True

    def _afterwards(self, command: str) -> None:
        """Events that follow an answer."""
        if command == "initialize":
            self.channel.event("initialized")
        elif command == "configurationDone" and self.walk_found is not None:
            self._announce()
            if self._stop_on_entry:
                self._stopped("entry")
            else:
                self._run()
        elif command == "restart":
            self._stopped("entry")
        elif command in MOVING:
            MOVING[command](self)
        elif command in ("disconnect", "terminate"):
            self.channel.event("terminated")

    def _announce(self) -> None:
        ending = self.walk.ending
        if ending is not None:
            self._say(
                f"{ending.message}; decided after {ending.moment} steps, the command `decides` goes there"
            )

    # ---- breakpoints ------------------------------------------------------------------------------

    def _set_lines(self, arguments: Message) -> Message:
        path = os.path.realpath(str(arguments["source"]["path"]))
        given = arguments.get("breakpoints", ())
        wanted = {int(each["line"]): str(each.get("condition") or "") for each in given}
        self.stops.lines[path] = wanted
        return {"breakpoints": [{"verified": True, "line": line} for line in wanted]}

    def _set_formulas(self, arguments: Message) -> Message:
        faults = self.stops.set_formulas([str(each["name"]) for each in arguments.get("breakpoints", ())])
        return {"breakpoints": [_verified(fault) for fault in faults]}

    def _set_failures(self, arguments: Message) -> Message:
        self.stops.at_failure = FAILURE in arguments.get("filters", ())
        return {"breakpoints": []}

    def _failure(self, _: Message) -> Message:
        ending = self.walk.ending
        if ending is None:
            raise UsageError("nothing goes wrong")
        return {"exceptionId": ending.kind, "description": plain(ending.message), "breakMode": "always"}

    # ---- what is shown ----------------------------------------------------------------------------

    def _threads(self, _: Message) -> Message:
        return {"threads": shown.threads(self.walk)}

    def _stack(self, arguments: Message) -> Message:
        frames = shown.stack(self.walk, int(arguments["threadId"]))
        first = int(arguments.get("startFrame") or 0)
        last = first + (int(arguments.get("levels") or 0) or len(frames))
        return {"stackFrames": frames[first:last], "totalFrames": len(frames)}

    def _scopes(self, arguments: Message) -> Message:
        return {"scopes": shown.scopes(self.walk, int(arguments["frameId"]), self.references)}

    def _variables(self, arguments: Message) -> Message:
        return {"variables": self.references.variables(int(arguments["variablesReference"]))}

    def _set_variable(self, arguments: Message) -> Message:
        number, name = int(arguments["variablesReference"]), str(arguments["name"])
        if number not in self.references.owners:
            raise UsageError("an element of a value cannot be set alone", hint="set the whole variable")
        value = self.walk.evaluate(str(arguments["value"]))
        self.walk.assign(self.references.owners[number], name, value)
        return {"value": value_text(value), "variablesReference": self.references.of(value)}

    def _source(self, arguments: Message) -> Message:
        raise UsageError("the source is in its file", hint=str(arguments.get("source", {}).get("path", "")))

    def _evaluate(self, arguments: Message) -> Message:
        text = str(arguments["expression"]).strip()
        word, _, rest = text.partition(" ")
        if arguments.get("context") == "repl" and word in CONSOLE:
            return {"result": CONSOLE[word](self, rest.strip()), "variablesReference": 0}
        value = self.walk.evaluate(text)
        return {"result": value_text(value), "variablesReference": self.references.of(value)}

    # ---- moving -----------------------------------------------------------------------------------

    def _continue(self, _: Message) -> Message:
        return {"allThreadsContinued": True}

    def _moved(self, arguments: Message) -> None:
        self._thread = int(arguments.get("threadId", 1))
        if not 0 < self._thread <= len(self.walk.processes):
            raise UsageError(f"there is no thread {self._thread}")

    def _targets(self, _: Message) -> Message:
        ending = self.walk.ending
        if ending is None:
            return {"targets": []}
        return {"targets": [{"id": DECIDES, "label": "the moment that decides", "line": 0}]}

    def _goto(self, arguments: Message) -> None:
        if int(arguments["targetId"]) != DECIDES or self.walk.ending is None:
            raise UsageError("there is no such target")
        self._moved(arguments)

    def _run(self) -> None:
        """To the next reason to stop: by a temporal formula if there is one, else step by step."""
        for text in self.stops.temporal:
            if self.walk.satisfy(text):
                self._stopped("function breakpoint", text)
                return
        while self.walk.forward():
            reason = self.stops.reason(self.walk, self._true)
            if reason is not None:
                self._stopped(reason)
                return
        self._stopped("pause", "the end")

    def _run_back(self) -> None:
        while self.walk.back():
            reason = self.stops.reason(self.walk, self._true)
            if reason is not None:
                self._stopped(reason)
                return
        self._stopped("entry", "the beginning")

    def _step(self) -> None:
        name = self.walk.processes[self._thread - 1]
        if not self.walk.forward(name):
            able = ", ".join(self.walk.able()) or "nobody"
            self._say(f"{name} cannot go on; able to: {able}")
        reason = self.stops.reason(self.walk, self._true)
        self._stopped("exception" if reason == "exception" else "step")

    def _step_back(self) -> None:
        self.walk.back()
        self._stopped("step")

    def _jump(self) -> None:
        if self.walk.ending is not None:
            self.walk.to_start()
            del self.walk.moves[:], self.walk.states[1:]
            self.walk.to(self.walk.ending.moment)
            self._stopped("goto")

    def _stopped(self, reason: str, text: str | None = None) -> None:
        self.references.clear()
        last = self.walk.last
        thread = self._thread if last is None else self.walk.processes.index(last.processes[0]) + 1
        said = {"text": plain(text)} if text else {}
        if reason == "exception" and self.walk.ending is not None:
            said = {"text": plain(self.walk.ending.message), "description": plain(self.walk.ending.kind)}
        self.channel.event("stopped", reason=reason, threadId=thread, allThreadsStopped=True, **said)

    def _say(self, text: str) -> None:
        self.channel.event("output", category="console", output=f"{plain(text)}\n")

    # ---- the console ------------------------------------------------------------------------------

    def said_step(self, text: str) -> str:
        if not self.walk.satisfy(text):
            return f"no way from here satisfies {text}"
        self._stopped("goto", text)
        return f"after {self.walk.position} steps"

    def said_next(self, name: str) -> str:
        if name not in self.walk.processes:
            raise UsageError(f"there is no {name!r}", hint=f"there are {', '.join(self.walk.processes)}")
        if not self.walk.forward(name):
            return f"{name} cannot go on; able to: {', '.join(self.walk.able()) or 'nobody'}"
        self._stopped("step")
        return f"after {self.walk.position} steps"

    def said_decides(self, _: str) -> str:
        if self.walk.ending is None:
            return "nothing goes wrong"
        self._jump()
        return plain(self.walk.ending.message)

    def said_order(self, _: str) -> str:
        return "\n".join(map(plain, shown.order_text(self.walk))) or "nothing has happened yet"

    # ---- the temporal stack -----------------------------------------------------------------------

    def _temporal_stack(self, _: Message) -> Message:
        return {"steps": shown.steps(self.walk), "position": self.walk.position}

    def _pop(self, _: Message) -> Message:
        if not self.walk.pop():
            raise UsageError("no temporal step was taken")
        return self._temporal_stack({})


CONSOLE: dict[str, Callable[[Adapter, str], str]] = {
    "step": Adapter.said_step,
    "next": Adapter.said_next,
    "decides": Adapter.said_decides,
    "order": Adapter.said_order,
}
MOVING: dict[str, Callable[[Adapter], None]] = {
    "continue": Adapter._run,
    "next": Adapter._step,
    "stepIn": Adapter._step,
    "stepOut": Adapter._step,
    "stepBack": Adapter._step_back,
    "reverseContinue": Adapter._run_back,
    "goto": Adapter._jump,
    "pause": lambda adapter: adapter._stopped("pause"),
    "possibly/pop": lambda adapter: adapter._stopped("step", "a temporal step back"),
}
REQUESTS: dict[str, Callable[[Adapter, Message], Message | None]] = {
    "initialize": Adapter._initialize,
    "launch": Adapter._launch,
    "attach": Adapter._launch,
    "restart": Adapter._restart,
    "configurationDone": Adapter._configured,
    "disconnect": Adapter._disconnect,
    "terminate": Adapter._disconnect,
    "setBreakpoints": Adapter._set_lines,
    "setFunctionBreakpoints": Adapter._set_formulas,
    "setExceptionBreakpoints": Adapter._set_failures,
    "exceptionInfo": Adapter._failure,
    "threads": Adapter._threads,
    "stackTrace": Adapter._stack,
    "scopes": Adapter._scopes,
    "variables": Adapter._variables,
    "setVariable": Adapter._set_variable,
    "source": Adapter._source,
    "evaluate": Adapter._evaluate,
    "gotoTargets": Adapter._targets,
    "possibly/stack": Adapter._temporal_stack,
    "possibly/pop": Adapter._pop,
    "goto": Adapter._goto,
    "continue": Adapter._continue,
    **dict.fromkeys(("next", "stepIn", "stepOut", "stepBack", "reverseContinue", "pause"), Adapter._moved),
}


def _verified(fault: str | None) -> Message:
    return {"verified": True} if fault is None else {"verified": False, "message": plain(fault)}
