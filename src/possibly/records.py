"""Small immutable types that are cheap to define: what frozen dataclasses give, without their start-up time.

Here belongs how such a type is built from its annotations. For readers and type checkers the types are
dataclasses: the names are the same, `dataclass`, `field` and `replace`. They are not made by the standard
library's because that compiles several methods for each class and imports `inspect`: together nearly half
of the time a small check took. The price is a slower constructor (some two microseconds), so types that are
made by the million are named tuples or standard dataclasses instead.

For the same reason what a small check needs imports `typing` for type checkers alone (`TYPE_CHECKING`, which
they take for true in every module). The names of `typing` that do something at run time have stand-ins here.
"""

from __future__ import annotations

from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple, TypeVar, dataclass_transform

    _Type = TypeVar("_Type", bound=type)
    _Record = TypeVar("_Record")
else:
    from _collections import _tuplegetter

    def dataclass_transform(**_):
        """For type checkers alone."""
        return lambda decorated: decorated

    class _TupleType(type):
        """Turns the annotations of a class into the names of the items of a tuple."""

        def __new__(cls, name, bases, body):
            fields = tuple(body.get("__annotations__", ()))
            body["_defaults"] = {field: body.pop(field) for field in fields if field in body}
            body["_last"] = tuple(body["_defaults"].values())
            for place, field in enumerate(fields):
                body[field] = _tuplegetter(place, field)
            body["_fields"] = body["__match_args__"] = fields
            body["__slots__"] = ()
            return super().__new__(cls, name, bases, body)

    class NamedTuple(tuple, metaclass=_TupleType):
        """As `typing.NamedTuple`, which compiles a constructor for each class; a type has no heirs."""

        def __new__(cls, *values, **named):
            missing = len(cls._fields) - len(values)
            if named or not 0 <= missing <= len(cls._last):
                values = _all_items(cls, values, named)
            elif missing:
                values += cls._last[-missing:]
            return tuple.__new__(cls, values)

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            items = ", ".join(f"{name}={item!r}" for name, item in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({items})"

        def _replace(self, **changes):
            return type(self)(**dict(zip(self._fields, self, strict=True)) | changes)

    def _all_items(kind, values, named):
        """The items from positions, names and defaults."""
        found = {**kind._defaults, **dict(zip(kind._fields, values, strict=False))}
        twice = named.keys() & kind._fields[: len(values)]
        found |= named
        if twice or len(values) > len(kind._fields) or found.keys() != set(kind._fields):
            raise TypeError(f"{kind.__name__} has the items {', '.join(kind._fields)}, each once")
        return tuple([found[name] for name in kind._fields])


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
