"""Where the lines of a debugging session come from: a person at a terminal, a script, a pipe.

At a terminal there are completion, history and editing: by `prompt_toolkit` if it is installed (the extra
`debug`), else by the standard `readline`, else by nothing. All of them yield plain lines, so a session is
the same wherever its lines come from. Ctrl-C at the prompt drops the line, Ctrl-D ends the session.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

PROMPT = "(possibly) "

Words = Callable[[str], Iterable[str]]
"""The words that may follow the text before the word at the cursor."""


def typed_lines(words: Words) -> Iterator[str]:
    """The lines that a person types."""
    read = _reader(words)
    while True:
        try:
            yield read()
        except KeyboardInterrupt:
            print("^C")
        except EOFError:
            print()
            return


def _reader(words: Words) -> Callable[[], str]:
    if not os.environ.get("POSSIBLY_PLAIN_PROMPT") and os.environ.get("TERM", "dumb") != "dumb":
        try:
            return _prompt_toolkit(words)
        except ImportError:
            pass
    try:
        return _readline(words)
    except ImportError:
        return lambda: input(PROMPT)


def history_file() -> str | None:
    """Where lines are kept between sessions, if that place can be made."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    folder = os.path.join(base, "possibly")
    try:
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "debug_history")
        with open(path, "a", encoding="utf-8"):
            return path
    except OSError:
        return None


def _prompt_toolkit(words: Words) -> Callable[[], str]:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    class _Completer(Completer):
        def get_completions(self, document: Any, event: Any) -> Iterator[Completion]:
            before = document.text_before_cursor
            start, word = split_word(before)
            for found in matching(words(start), word):
                yield Completion(found, start_position=-len(word))

    path = history_file()
    history = FileHistory(path) if path is not None else InMemoryHistory()
    session: PromptSession[str] = PromptSession(
        history=history, completer=_Completer(), complete_while_typing=False
    )
    return lambda: session.prompt(PROMPT)


def _readline(words: Words) -> Callable[[], str]:
    import readline

    def complete(word: str, number: int) -> str | None:
        start = readline.get_line_buffer()[: readline.get_begidx()]
        found = list(matching(words(start), word))
        return found[number] if number < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t\n()&|!,")
    readline.parse_and_bind("tab: complete")
    path = history_file()
    if path is not None:
        try:
            readline.read_history_file(path)
        except OSError:
            path = None  # not ours to read: no history then

    def read() -> str:
        line = input(PROMPT)
        if path is not None:
            readline.write_history_file(path)
        return line

    return read


def split_word(text: str) -> tuple[str, str]:
    """What stands before the word at the end of the text, and that word."""
    place = len(text)
    while place and text[place - 1] not in " \t()&|!,":
        place -= 1
    return text[:place], text[place:]


def matching(words: Iterable[str], word: str) -> list[str]:
    return sorted({found for found in words if found.startswith(word)})


def is_typed() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()
