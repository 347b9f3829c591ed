"""`[tool.possibly]` in `pyproject.toml`: options that every command reads unless they are given to it.

    [tool.possibly]
    spec = "bank.spec"
    include = ["mypackage"]
    ignore = ["statistics"]
    time = 60
    jobs = 2

The file is that of the nearest folder above the current one that has a `pyproject.toml`. A key is the name
of an option; a command that has no such option takes no notice of it. A list adds to what is given on the
command line, anything else gives way to it, and a formula there stands in for the specification file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from possibly.errors import PossiblyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TEXT, TEXTS, NUMBER = "a text", "a list of texts", "a number"
KEYS = {
    "spec": TEXT,
    "include": TEXTS,
    "exclude": TEXTS,
    "trust": TEXTS,
    "within": TEXTS,
    "ignore": TEXTS,
    "time": NUMBER,
    "timeout": NUMBER,
    "executions": NUMBER,
    "seed": NUMBER,
    "jobs": f"{NUMBER} or {TEXT}",
    "scheduler": TEXT,
    "join": TEXT,
    "order": TEXT,
    "format": TEXT,
}


class Settings:
    """What the project's file says."""

    def __init__(self, file: str, values: Mapping[str, Any]) -> None:
        self.file = file
        self.values = values
        for key, value in values.items():
            self._check(key, value)

    def configure(self, parser: Any) -> None:
        """Makes what is said here the default of a command's options."""
        for key, value in self.values.items():
            option = None if key == "spec" else _option(parser, f"--{key}")
            if option is None:
                continue
            name, convert, choices, is_list = option
            texts = value if isinstance(value, list) else [value]
            found = [self._converted(key, each, convert, choices) for each in texts]
            parser.set_defaults(**{name: found if is_list else found[-1] if found else None})

    def complete(self, arguments: Any) -> None:
        """The specification file, for a command that takes one and was given no property."""
        if "spec" not in self.values or not hasattr(arguments, "spec") or arguments.spec is not None:
            return
        from possibly.logic.languages import LANGUAGES

        if not any(getattr(arguments, language, None) for language in LANGUAGES):
            path = os.path.join(os.path.dirname(self.file), self.values["spec"])
            arguments.spec = os.path.relpath(path)

    def _check(self, key: str, value: object) -> None:
        if key not in KEYS:
            from possibly.logic.specification import near

            hint = near(key, tuple(KEYS)) or f"keys are {', '.join(KEYS)}"
            raise PossiblyError(f"tool.possibly has no key {key!r}", file=self.file, hint=hint)
        if not _fits(value, KEYS[key]):
            raise PossiblyError(f"tool.possibly.{key} must be {KEYS[key]}", file=self.file)

    def _converted(self, key: str, value: object, convert: Any, choices: Any) -> object:
        try:
            found = value if convert is None else convert(str(value))
        except Exception:  # noqa: BLE001 - options refuse by whatever they like
            found = choices = ()
        if found == () or (choices is not None and found not in choices):
            raise PossiblyError(f"tool.possibly.{key} cannot be {value!r}", file=self.file)
        return found


def _fits(value: object, kind: str) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    given = {TEXT: isinstance(value, str), TEXTS: is_texts, NUMBER: is_number}
    return given[kind] if kind in given else is_number or isinstance(value, str)


def _option(parser: Any, flag: str) -> tuple[str, Any, Any, bool] | None:
    """Of a command's parser: where the option is kept, its type, its choices, and whether it is a list."""
    if hasattr(parser, "options"):
        found = parser.options.get(flag)
        if found is None:
            return None
        name, how = found
        return name, how.get("type"), how.get("choices"), how.get("action") == "append"
    action = parser._option_string_actions.get(flag)
    if action is None:
        return None
    return action.dest, action.type, action.choices, isinstance(action.default, list)


def settings_in(file: str, data: bytes) -> Settings | None:
    """What a project's file says; None if it says nothing."""
    import tomllib

    shown = os.path.relpath(file)
    try:
        table = tomllib.loads(data.decode("utf-8"))["tool"]["possibly"]
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PossiblyError(f"not TOML: {error}", file=shown) from None
    except (KeyError, TypeError):
        return None
    return Settings(shown, table) if isinstance(table, dict) else None
