"""Where a formula stands, and errors that point there.

Here belongs the one conversion from an offset in a formula's text to file, line and column (both from
1); the lexer, the parser and the binder all report through it. `text` is the formula exactly as it
stands in its file from (`line`, `column`) on, continuation lines with their indentation included, so
that every offset has a true place.
"""

from __future__ import annotations

from possibly.errors import FormulaError
from possibly.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


@dataclass(frozen=True, slots=True)
class Source:
    text: str
    file: str | None = None
    line: int = 1
    column: int = 1

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset into the text."""
        above = self.text.count("\n", 0, offset)
        if above == 0:
            return self.line, self.column + offset
        return self.line + above, offset - self.text.rfind("\n", 0, offset)

    def fail(self, message: str, offset: int, hint: str | None = None) -> NoReturn:
        line, column = self.place(offset)
        raise FormulaError(
            message, text=self._line(offset), file=self.file, line=line, column=column, hint=hint
        )

    def _line(self, offset: int) -> str:
        """The line of the offset; the part of the first line that precedes the text is blank."""
        first = self.text.rfind("\n", 0, offset) + 1
        last = self.text.find("\n", offset)
        line = self.text[first : last if last >= 0 else None]
        return " " * (self.column - 1) + line if first == 0 else line
