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
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Self, TypeAlias, dataclass_transform
else:
    from possibly.records import dataclass_transform


def aside(*, default: Any, kw_only: bool = True) -> Any:
    """A field that is no part of the tree. (Type checkers look for the word `kw_only` at the call.)"""
    return _Aside(default)


class _Aside:
    __slots__ = ("default",)

    def __init__(self, default: Any) -> None:
        self.default = default


_Setter: TypeAlias = "Callable[[Any, Any], None]"


class _Immutable:
    """What all trees can do. Apart from `Tree`, as annotations there are fields."""

    __slots__ = ("_hash", "_timeless")
    _hash: int
    _timeless: bool
    """Whether there is no temporal operator in it; `predicate` finds out, once."""
    __match_args__: ClassVar[tuple[str, ...]]
    """The fields that count, in their order."""
    _defaults: ClassVar[dict[str, Any]]
    _asides: ClassVar[dict[str, Any]]
    """The other fields, with their defaults."""
    _setters: ClassVar[tuple[_Setter, ...]]
    _aside_setters: ClassVar[tuple[tuple[str, _Setter, Any], ...]]
    _all_setters: ClassVar[tuple[tuple[str, _Setter], ...]]
    _is_leaf: ClassVar[bool]
    """No field holds trees of any depth: none is annotated with `Node`."""
    _read: ClassVar[Callable[[Any], Any]]
    """The fields that count: of one field its value, of several a tuple."""

    def __init__(self, *values: Any, **named: Any) -> None:
        setters = self._setters
        if len(values) != len(setters):
            values = self._completed(values, named)
        for setter, value in zip(setters, values):  # noqa: B905 - as long as each other; to check takes longer
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
        made = object.__new__(type(self))
        for name, setter in self._all_setters:
            setter(made, fields.pop(name) if name in fields else getattr(self, name))
        if fields:
            raise TypeError(f"{type(self).__name__} has no field {' '.join(fields)}")
        return made

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
        return _rebuilt, (type(self), self._parts(), asides)

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
        if self._is_leaf:
            _set_hash(self, hash((type(self).__name__, *self._parts())))
            return self._hash
        # Those above come before those below: from the end on, whatever a hash needs is there already.
        trees: list[_Immutable] = [self]
        for tree in trees:
            for part in tree._parts():
                below = part if type(part) is tuple else (part,)
                trees.extend(
                    [
                        each
                        for each in below
                        if isinstance(each, _Immutable) and not each._is_leaf and not hasattr(each, "_hash")
                    ]
                )
        for tree in reversed(trees):
            _set_hash(tree, hash((type(tree).__name__, *tree._parts())))
        return self._hash

    def _parts(self) -> tuple[Any, ...]:
        read: Any = type(self)._read(self)
        return (read,) if len(self._setters) == 1 else read


_set_hash: _Setter = _Immutable.__dict__["_hash"].__set__


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(aside,))
class TreeType(type):
    """Turns the annotations of a class into slots."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> TreeType:
        annotations: dict[str, str] = body.get("__annotations__", {})
        names = tuple(annotations)
        given = {field: body.pop(field) for field in names if field in body}
        asides = {field: value.default for field, value in given.items() if isinstance(value, _Aside)}
        fields = tuple([field for field in names if field not in asides])
        body["__slots__"] = names
        body["__match_args__"] = fields
        body["_is_leaf"] = not any("Node" in annotations[field] for field in fields)
        body["_defaults"] = {field: given[field] for field in fields if field in given}
        body["_asides"] = asides = {**getattr(bases[0], "_asides", {}), **asides}
        made: Any = super().__new__(cls, name, bases, body)
        # The descriptors of the slots set a value in spite of `__setattr__`.
        made._setters = tuple([getattr(made, field).__set__ for field in fields])
        made._aside_setters = tuple(
            [(field, getattr(made, field).__set__, default) for field, default in asides.items()]
        )
        made._all_setters = tuple([(field, getattr(made, field).__set__) for field in (*fields, *asides)])
        made._read = attrgetter(*fields) if fields else _nothing
        return made  # type: ignore[no-any-return]


def _nothing(tree: Tree) -> tuple[()]:
    """What a type without fields has."""
    return ()


class Tree(_Immutable, metaclass=TreeType):
    """The base of all node types."""


def _rebuilt(kind: type[_Immutable], values: tuple[Any, ...], asides: dict[str, Any]) -> _Immutable:
    return kind(*values, **asides)
