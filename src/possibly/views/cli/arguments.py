"""A plain command line, read without `argparse`, which takes as long to start as a small check to answer.

A command declares its options once, by `add_arguments`, as for `argparse`; here they are declared to a
`Plain`, which keeps them. It reads a command line that says the same to everybody: options in full, each
followed by its value, and the positional words in one place. Of anything else (help, a mistake, a value
that begins with a minus sign, a declaration of a kind not known here) it says nothing: None, and
`argparse` reads the line and says what there is to say. So both agree wherever this one answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KNOWN = {"action", "choices", "default", "dest", "help", "metavar", "nargs", "type"}
_ACTIONS = ("store", "store_true", "append")


class Given:
    """What was given, an attribute an argument, as an `argparse.Namespace`."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)


def plainly(
    add_arguments: Callable[[Any], None],
    words: Sequence[str],
    configure: Callable[[Any], None] | None = None,
) -> Given | None:
    """The arguments of a command, if the line is plain; `configure` may change the defaults."""
    declared = Plain()
    add_arguments(declared)
    if configure is not None:
        configure(declared)
    return declared.read(words) if declared.is_known else None


class Plain:
    """The declared arguments of one command; stands in for an `argparse.ArgumentParser` and its groups."""

    def __init__(self) -> None:
        self.options: dict[str, tuple[str, dict[str, Any]]] = {}
        self.positional: list[tuple[str, dict[str, Any]]] = []
        self.defaults: dict[str, Any] = {}
        self.is_known = True
        """Nothing was declared that is not understood here."""

    def add_argument_group(self, *_: object) -> Plain:
        return self

    def add_argument(self, *flags: str, **how: Any) -> None:
        name = how.get("dest") or flags[0].lstrip("-").replace("-", "_")
        is_option = flags[0].startswith("--")
        self.is_known &= _KNOWN.issuperset(how) and how.get("action", "store") in _ACTIONS and len(flags) == 1
        self.is_known &= how.get("nargs") in ((None,) if is_option else (None, "+"))
        self.is_known &= is_option or not flags[0].startswith("-")
        if is_option:
            self.options[flags[0]] = name, how
            self.defaults[name] = how.get("default", False if how.get("action") == "store_true" else None)
        else:
            self.positional.append((name, how))

    def set_defaults(self, **values: Any) -> None:
        self.defaults.update(values)

    def read(self, words: Sequence[str]) -> Given | None:
        """The values of the arguments; None if the line is not plain."""
        found, places, at = dict(self.defaults), [], 0
        while at < len(words):
            word = words[at]
            at += 1
            if word == "-" or not word.startswith("-"):
                places.append(at)
                continue
            flag, is_joined, value = word.partition("=")
            if flag not in self.options:
                return None
            name, how = self.options[flag]
            if how.get("action") == "store_true":
                if is_joined:
                    return None
                found[name] = True
                continue
            if not is_joined:
                value = words[at] if at < len(words) else "-"
                at += 1
                if value.startswith("-"):
                    return None
            if not _store(found, name, how, value):
                return None
        if places and places[-1] - places[0] != len(places) - 1:
            return None
        return self._placed(found, [words[place - 1] for place in places])

    def _placed(self, found: dict[str, Any], words: list[str]) -> Given | None:
        """With the positional words given to their arguments, the last of which may take several."""
        several = bool(self.positional) and self.positional[-1][1].get("nargs") == "+"
        if len(words) < len(self.positional) or (len(words) > len(self.positional) and not several):
            return None
        if any(how.get("nargs") for _, how in self.positional[:-1]):
            return None
        for number, (name, how) in enumerate(self.positional):
            if how.get("nargs"):
                found[name] = words[number:]
            elif not _store(found, name, how, words[number]):
                return None
        return Given(found)


def _store(found: dict[str, Any], name: str, how: dict[str, Any], text: str) -> bool:
    """Puts a value where it belongs; False if it is not allowed there."""
    try:
        value = how["type"](text) if "type" in how else text
    except Exception:  # noqa: BLE001 - whatever it is, argparse will say it
        return False
    if "choices" in how and value not in how["choices"]:
        return False
    found[name] = [*(found.get(name) or ()), value] if how.get("action") == "append" else value
    return True
