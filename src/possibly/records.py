"""Small immutable types that are cheap to define: what frozen dataclasses give, without their start-up time.

Here belongs how such a type is built from its annotations. For readers and type checkers the types are
dataclasses: the names are the same, `dataclass`, `field` and `replace`. They are not made by the standard
library's because that compiles several methods for each class and imports `inspect`: together nearly half
of the time a small check took. The price is a slower constructor (some two microseconds), so types that are
made by the million are named tuples or standard dataclasses instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

_Type = TypeVar("_Type", bound=type)
_Record = TypeVar("_Record")


class _Field:
    __slots__ = ("default", "factory")

    def __init__(self, default: Any, factory: Callable[[], Any] | None) -> None:
        self.default = default
        self.factory = factory


_NOTHING: Any = object()


def field(*, default: Any = _NOTHING, default_factory: Callable[[], Any] | None = None) -> Any:
    """A field whose default is made anew for each record."""
    return _Field(default, default_factory)


@dataclass_transform(field_specifiers=(field,))
def dataclass(*, frozen: bool = False, slots: bool = False) -> Callable[[_Type], _Type]:
    """A class decorator; `slots` is accepted and means nothing here."""

    def decorate(cls: _Type) -> _Type:
        inherited = dict(getattr(cls, "__record_fields__", {}))
        for name, annotation in cls.__annotations__.items():
            if str(annotation).startswith("ClassVar"):
                continue
            value = cls.__dict__.get(name, _NOTHING)
            inherited[name] = value if isinstance(value, _Field) else _Field(value, None)
            if isinstance(value, _Field):
                delattr(cls, name)
        members: dict[str, Any] = {
            "__record_fields__": inherited,
            "__match_args__": tuple(inherited),
            "__init__": _init,
            "__repr__": _repr,
            "__eq__": _eq,
            "__hash__": _hash if frozen else None,
        }
        if frozen:
            members |= {"__setattr__": _refuse, "__delattr__": _refuse}
        for name, member in members.items():
            if name != "__repr__" or name not in cls.__dict__:
                setattr(cls, name, member)
        return cls

    return decorate


def _init(self: Any, /, *values: Any, **named: Any) -> None:
    fields = self.__record_fields__
    if len(values) > len(fields):
        raise TypeError(f"{type(self).__name__} has {len(fields)} fields, not {len(values)}")
    state = self.__dict__
    state.update(zip(fields, values, strict=False))
    if len(values) < len(fields) or named:
        _complete(self, list(fields)[len(values) :], named)


def _complete(self: Any, missing: list[str], named: dict[str, Any]) -> None:
    fields, state = self.__record_fields__, self.__dict__
    for name in missing:
        if name in named:
            state[name] = named.pop(name)
            continue
        found = fields[name]
        if found.factory is not None:
            state[name] = found.factory()
        elif found.default is not _NOTHING:
            state[name] = found.default
        else:
            raise TypeError(f"{type(self).__name__} lacks its field {name}")
    if named:
        raise TypeError(f"{type(self).__name__} has no such field, or has it already: {', '.join(named)}")


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([self.__dict__[name] for name in self.__record_fields__])


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__record_fields__)
    return f"{type(self).__qualname__}({fields})"


def _eq(self: Any, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _refuse(self: Any, name: str, value: object = None) -> None:
    raise AttributeError(f"{type(self).__name__} is immutable: cannot change {name}")


def replace(record: _Record, /, **changes: Any) -> _Record:
    """A copy in which these fields have other values; of a standard dataclass too."""
    fields = getattr(record, "__record_fields__", None)
    if fields is None:
        import dataclasses

        return dataclasses.replace(record, **changes)  # type: ignore[type-var]
    state = {name: record.__dict__[name] for name in fields}
    return type(record)(**(state | changes))
