"""What a task does, by the kind of its step: as it does it, and as it has done it.

Every kind that a model gives to a step has a row here, which a test holds; `{}` is the thing. A
method of a primitive of an event loop that is not called as a kind of step has its row in METHODS.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Phrase(NamedTuple):
    now: str
    then: str


PHRASES = {
    "acquire": Phrase("takes {}", "took {}"),
    "add_done_callback": Phrase("wants to be called when {} is done", "wanted to be called when {} is done"),
    "arrive": Phrase("brings", "brought"),
    "assign": Phrase("sets {}", "set {}"),
    "await": Phrase("looks at {}", "looked at {}"),
    "awaits": Phrase("awaits {}", "awaited {}"),
    "begin": Phrase("begins {}", "began {}"),
    "bind": Phrase("takes the address {}", "took the address {}"),
    "call": Phrase("asks {} to call back", "asked {} to call back"),
    "callback": Phrase("is called", "was called"),
    "cancel": Phrase("cancels {}", "cancelled {}"),
    "cancelled": Phrase("is cancelled by {}", "was cancelled by {}"),
    "clear": Phrase("clears {}", "cleared {}"),
    "close": Phrase("closes {}", "closed {}"),
    "collective": Phrase("takes part in {}", "took part in {}"),
    "commit": Phrase("commits to {}", "committed to {}"),
    "connect": Phrase("connects to {}", "connected to {}"),
    "continue": Phrase("has its turn again", "had its turn again"),
    "done": Phrase("asks whether {} is done", "asked whether {} was done"),
    "empty": Phrase("asks whether {} is empty", "asked whether {} was empty"),
    "end": Phrase("ends", "ended"),
    "ends": Phrase("ends {}", "ended {}"),
    "enter": Phrase("enters {}", "entered {}"),
    "exception": Phrase("asks for the exception of {}", "asked for the exception of {}"),
    "exit": Phrase("comes to the end of the program", "came to the end of the program"),
    "fault": Phrase("is what goes wrong", "was what went wrong"),
    "fork": Phrase("forks {}", "forked {}"),
    "full": Phrase("asks whether {} is full", "asked whether {} was full"),
    "get": Phrase("gets from {}", "got from {}"),
    "give": Phrase("gives a unit of {} back", "gave a unit of {} back"),
    "handled": Phrase("goes on after {}", "went on after {}"),
    "is_alive": Phrase("asks whether {} is alive", "asked whether {} was alive"),
    "is_set": Phrase("looks at {}", "looked at {}"),
    "join": Phrase("has seen the end of {}", "had seen the end of {}"),
    "join any": Phrase("has seen one end, as {}", "had seen one end, as {}"),
    "join queue": Phrase("has seen that all of {} is done", "had seen that all of {} was done"),
    "kill": Phrase("kills {}", "killed {}"),
    "leave": Phrase("leaves {}", "left {}"),
    "leave_loop": Phrase("leaves the loop after {}", "left the loop after {}"),
    "listen": Phrase("listens at {}", "listened at {}"),
    "locked": Phrase("asks whether {} is taken", "asked whether {} was taken"),
    "look": Phrase("looks at {}", "looked at {}"),
    "notify": Phrase("notifies {}", "notified {}"),
    "pause": Phrase("waits for a signal", "waited for a signal"),
    "poll": Phrase("asks whether there is something in {}", "asked whether there was something in {}"),
    "put": Phrase("puts into {}", "put into {}"),
    "qsize": Phrase("asks for the size of {}", "asked for the size of {}"),
    "query": Phrase("asks {}", "asked {}"),
    "reach the end": Phrase("comes to the end of the program", "came to the end of the program"),
    "read": Phrase("reads {}", "read {}"),
    "receive": Phrase("receives from {}", "received from {}"),
    "ready": Phrase("finds {} ready", "found {} ready"),
    "recv": Phrase("receives from {}", "received from {}"),
    "register": Phrase("changes what {} looks for", "changed what {} looks for"),
    "release": Phrase("gives {} back", "gave {} back"),
    "result": Phrase("asks for the result of {}", "asked for the result of {}"),
    "resume": Phrase("goes on", "went on"),
    "retry": Phrase("tries {} again", "tried {} again"),
    "rollback": Phrase("takes back what it did to {}", "took back what it did to {}"),
    "running": Phrase("asks whether {} runs", "asked whether {} ran"),
    "select": Phrase("looks who of {} is ready", "looked who of {} was ready"),
    "send": Phrase("sends into {}", "sent into {}"),
    "set": Phrase("sets {}", "set {}"),
    "set_exception": Phrase("gives {} its exception", "gave {} its exception"),
    "set_result": Phrase("gives {} its result", "gave {} its result"),
    "set_running_or_notify_cancel": Phrase("begins with {}", "began with {}"),
    "shutdown": Phrase("shuts {} down", "shut {} down"),
    "signal": Phrase("comes", "came"),
    "sleep": Phrase("sleeps", "slept"),
    "spin": Phrase("looks again at {}", "looked again at {}"),
    "start": Phrase("starts {}", "started {}"),
    "statement": Phrase("executes a statement of {}", "executed a statement of {}"),
    "store": Phrase("writes to {}", "wrote to {}"),
    "take": Phrase("takes a unit of {}", "took a unit of {}"),
    "task_done": Phrase("tells {} that one is done", "told {} that one was done"),
    "timeout": Phrase("has waited long enough for {}", "had waited long enough for {}"),
    "timer": Phrase("comes to the end of its time", "came to the end of its time"),
    "try recv": Phrase("looks what came to {}", "looked what came to {}"),
    "unfinished": Phrase("asks what of {} is not done", "asked what of {} was not done"),
    "update": Phrase("changes {}", "changed {}"),
    "use": Phrase("uses {}", "used {}"),
    "wait": Phrase("waits on {}, letting its lock go", "waited on {}"),
    "wait for futures": Phrase("waits until {} is done", "waited until {} was done"),
    "wake": Phrase("goes on after {}", "went on after {}"),
    "woken": Phrase("is woken by {}", "was woken by {}"),
    "write": Phrase("writes {}", "wrote {}"),
}
BARRIER = {
    "acquire": Phrase("comes to {}", "came to {}"),
    "wait": Phrase("waits at {} for the others", "waited at {}"),
    "notify": Phrase("lets those at {} go on", "let those at {} go on"),
    "release": Phrase("goes on after {}", "went on after {}"),
}
"""Of the lock and the condition that are inside a barrier."""
METHODS = PHRASES | {
    "__aenter__": PHRASES["acquire"],
    "__aexit__": PHRASES["release"],
    "acquire_nowait": PHRASES["acquire"],
    "get_nowait": PHRASES["get"],
    "join": PHRASES["join queue"],
    "notify_all": PHRASES["notify"],
    "put_nowait": PHRASES["put"],
    "receive_nowait": PHRASES["receive"],
    "send_nowait": PHRASES["send"],
    "start_soon": Phrase("starts a task in {}", "started a task in {}"),
    "wait": PHRASES["wake"],
}


def is_of_barrier(thing: str) -> bool:
    """Whether the name is that of the lock or the condition inside a barrier."""
    return _BARRIER.fullmatch(thing) is not None


_BARRIER = re.compile(r"[0-9.]+:~?barrier[0-9]+(?:lock)?")


def phrase_of(kind: str, thing: str = "") -> Phrase:
    """What a step of that kind is called; one that a newer model has is called by its kind."""
    if kind in BARRIER and is_of_barrier(thing):
        return BARRIER[kind]
    return PHRASES.get(kind) or Phrase(f"{kind} {{}}", f"{kind} {{}}")


def phrase_of_method(name: str) -> Phrase:
    """The same of a method of a primitive of an event loop."""
    return METHODS.get(name) or Phrase(f"{name} of {{}}", f"{name} of {{}}")
