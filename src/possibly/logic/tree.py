"""Immutable trees: what frozen dataclasses give, made for deep trees that serve as keys, and cheap to define.

Here belongs how a node type is built from its annotations; which types there are stands in `syntax`. For
readers and type checkers the types are frozen dataclasses. They are not made by `dataclass` for two reasons.
It compiles several methods for each class, which for two dozen of them took a quarter of the start-up
time of a small check. And the equality and hash it makes recurse in C and walk the whole tree at every
look-up; here both are written once, without recursion, and a hash is computed once.

The fields of a class are its own annotations, in their order, and may have defaults; `aside` fields are
inherited, given by keyword only, and count neither in comparisons nor in patterns nor in `repr`.
Values of different types are different: 1, 1.0 and true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, dataclass_transform


def aside(*, default: Any, kw_only: bool = True) -> Any:
    """A field that is no part of the tree. (Type checkers look for the word `kw_only` at the call.)"""
    return _Aside(default)


class _Aside:
    __slots__ = ("default",)

    def __init__(self, default: Any) -> None:
        self.default = default


_Setter = Callable[[Any, Any], None]


class _Immutable:
    """What all trees can do. Apart from `Tree`, as annotations there are fields."""

    __slots__ = ("_hash",)
    _hash: int
    __match_args__: ClassVar[tuple[str, ...]]
    """The fields that count, in their order."""
    _defaults: ClassVar[dict[str, Any]]
    _asides: ClassVar[dict[str, Any]]
    """The other fields, with their defaults."""
    _setters: ClassVar[tuple[_Setter, ...]]
    _aside_setters: ClassVar[tuple[tuple[str, _Setter, Any], ...]]

    def __init__(self, *values: Any, **named: Any) -> None:
        setters = self._setters
        if len(values) != len(setters):
            values = self._completed(values, named)
        for setter, value in zip(setters, values, strict=True):
            setter(self, value)
        for field, setter, default in self._aside_setters:
            setter(self, named.pop(field, default) if named else default)
        if named:
            raise TypeError(f"{type(self).__name__} has no field {' '.join(named)}")

    def _completed(self, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """The positional fields, from positions, keywords and defaults."""
        fields, defaults = self.__match_args__, self._defaults
        found = list(values)
        for field in fields[len(values) :]:
            if field not in named and field not in defaults:
                raise TypeError(f"{type(self).__name__} lacks its field {field}")
            found.append(named.pop(field) if field in named else defaults[field])
        if len(found) > len(fields):
            raise TypeError(f"{type(self).__name__} has {len(fields)} fields, not {len(found)}")
        return tuple(found)

    def changed(self, **fields: Any) -> Self:
        """A copy in which these fields have other values."""
        names = (*self.__match_args__, *self._asides)
        return type(self)(**{**{name: getattr(self, name) for name in names}, **fields})

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name}")

    def __repr__(self) -> str:
        parts = [f"{name}={getattr(self, name)!r}" for name in self.__match_args__]
        return f"{type(self).__name__}({', '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the hash: that of a string differs from one process to the next.
        asides = {name: getattr(self, name) for name in self._asides}
        return _rebuilt, (type(self), tuple(self._parts()), asides)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Immutable):
            return NotImplemented
        pending: list[tuple[Any, Any]] = [(self, other)]
        while pending:
            one, two = pending.pop()
            if one is two:
                continue
            if type(one) is not type(two):
                return False
            if isinstance(one, _Immutable):
                pending.extend(zip(one._parts(), two._parts(), strict=True))
            elif isinstance(one, tuple):
                if len(one) != len(two):
                    return False
                pending.extend(zip(one, two, strict=True))
            elif one != two:
                return False
        return True

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            pass
        pending: list[_Immutable] = [self]
        while pending:
            tree = pending[-1]
            missing = tree._unhashed()
            if missing:
                pending.extend(missing)
            else:
                pending.pop()
                object.__setattr__(tree, "_hash", hash((type(tree).__name__, *tree._parts())))
        return self._hash

    def _parts(self) -> list[Any]:
        return [getattr(self, name) for name in self.__match_args__]

    def _unhashed(self) -> list[_Immutable]:
        found: list[Any] = []
        for part in self._parts():
            found.extend(part if isinstance(part, tuple) else (part,))
        return [tree for tree in found if isinstance(tree, _Immutable) and not hasattr(tree, "_hash")]


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(aside,))
class TreeType(type):
    """Turns the annotations of a class into slots."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> TreeType:
        names = tuple(body.get("__annotations__", ()))
        given = {field: body.pop(field) for field in names if field in body}
        asides = {field: value.default for field, value in given.items() if isinstance(value, _Aside)}
        fields = tuple([field for field in names if field not in asides])
        body["__slots__"] = names
        body["__match_args__"] = fields
        body["_defaults"] = {field: given[field] for field in fields if field in given}
        body["_asides"] = asides = {**getattr(bases[0], "_asides", {}), **asides}
        made: Any = super().__new__(cls, name, bases, body)
        # The descriptors of the slots set a value in spite of `__setattr__`.
        made._setters = tuple([getattr(made, field).__set__ for field in fields])
        made._aside_setters = tuple(
            [(field, getattr(made, field).__set__, default) for field, default in asides.items()]
        )
        return made  # type: ignore[no-any-return]


class Tree(_Immutable, metaclass=TreeType):
    """The base of all node types."""


def _rebuilt(kind: type[_Immutable], values: tuple[Any, ...], asides: dict[str, Any]) -> _Immutable:
    return kind(*values, **asides)
