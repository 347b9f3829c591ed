"""Every error a user can meet.

An error names the place (file, line, column) and the remedy. The command line prints `str(error)`
as one sentence and exits with status 2; nothing else in the project ends a command that way.
"""

from __future__ import annotations


class PossiblyError(Exception):
    """Bad input or bad usage: one sentence, the place it speaks of, and perhaps a remedy."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.hint = hint

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class TraceError(PossiblyError):
    """A trace file that breaks the format, or events that no run could have produced."""


class FormulaError(PossiblyError):
    """A formula or specification that cannot be read; `text` and `column` say where."""

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, file=file, line=line, column=column, hint=hint)
        self.text = text
        self.variable: str | None = None
        """The shared variable of which nothing is known, if that is what is wrong."""

    def pointed(self) -> str:
        """The error with the offending line below it and a caret under the column."""
        if not self.text or self.column is None:
            return str(self)
        return f"{self}\n    {self.text}\n    {' ' * (self.column - 1)}^"


class UsageError(PossiblyError):
    """Options or arguments that make no sense together."""


class ControlError(PossiblyError):
    """The program does something that cannot be controlled in the way that was asked for."""
