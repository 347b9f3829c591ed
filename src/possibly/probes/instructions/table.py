"""What each instruction touches, and where on the stack that lies.

Semantics in a table. Every instruction of the interpreter stands in exactly one of these sets (a test holds
that); one that a new interpreter brings and that stands in none counts as unknown: it is told, and no verdict
is complete with it.
"""

from __future__ import annotations

import sys
from enum import IntEnum


class Kind(IntEnum):
    """What is about to happen, and what the site is given."""

    READ_GLOBAL = 0
    """Nothing."""
    WRITE_GLOBAL = 1
    """The new value."""
    DELETE_GLOBAL = 2
    """Nothing."""
    READ_CELL = 3
    """The cell."""
    WRITE_CELL = 4
    """The cell, the new value."""
    DELETE_CELL = 5
    """The cell."""
    READ_ATTRIBUTE = 6
    """The object."""
    WRITE_ATTRIBUTE = 7
    """The object, the new value."""
    DELETE_ATTRIBUTE = 8
    """The object."""
    READ_ITEM = 9
    """The key, the container."""
    WRITE_ITEM = 10
    """(new value, container, key)"""
    DELETE_ITEM = 11
    """The key, the container."""
    TRUTH = 12
    """The value."""
    USE = 13
    """The operand of a unary operator."""
    BINARY = 14
    """The right operand, the left one."""
    COMPARE = 15
    """The right operand, the left one."""
    CONTAINS = 16
    """The container, the item."""
    ITERATE = 17
    """What is gone through."""
    ADVANCE = 18
    """The iterator that goes on to its next item."""
    UNPACK = 19
    """What is read as a whole."""
    FORMAT = 20
    """What is made a text."""
    MATCH_CLASS = 21
    """(subject, class, names); how many more are by position is the site's."""
    MATCH_KEYS = 22
    """The keys, the subject."""
    ENTER_CONTEXT = 23
    """The context manager."""
    CALL = 24
    """(function, arguments ...); names of the last ones are the site's. Then itself, the result."""
    CALL_SPREAD = 25
    """(function, arguments, keyword arguments or nothing). Then itself, the result."""
    MADE = 26
    """A container that was just made."""
    SUPER = 27
    """(object, class after which the search begins)"""
    LOCAL = 28
    """The value of a local variable that is followed."""
    ENTER = 29
    """Nothing: a followed function begins."""
    LEAVE = 30
    """Nothing: a followed function ends."""
    UNKNOWN = 31
    """Nothing: an instruction that is not in the table."""
    READ_SLICE = 32
    """(container, start, stop)"""
    WRITE_SLICE = 33
    """(new values, container, start, stop)"""
    ENTRY = 34
    """Nothing: a function begins, or a generator goes on."""
    EXIT_CONTEXT = 35
    """What leaves a context manager because of an exception, bound."""
    RESULT = 36
    """Itself, the result of an operator, which may be a container that was just made."""
    GIVE_BACK = 37
    """What a function returns or a generator yields; itself, if that is plain. Whoever called it may be in C,
    and reads that, and goes on with what it is in the middle of."""
    IMPORT = 38
    """Nothing: a module is looked for by its name."""
    RAISE = 39
    """The exception, or its class."""
    BUILTIN = 40
    """Nothing: the instruction calls a built-in function, which somebody may replace, by its name."""
    COUNTS = 41
    """What may count as a sequence or as a mapping, because its class was registered as one."""
    FIND = 42
    """What the instruction looks for a method of, which Python code then is: it touches nothing else."""
    FORGET = 43
    """Nothing: a local variable is deleted, and what only it held ends."""


_TRUTH = dict.fromkeys(
    """
    UNARY_NOT TO_BOOL POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP
    POP_JUMP_FORWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_BACKWARD_IF_FALSE
    """.split(),
    Kind.TRUTH,
)
if sys.version_info >= (3, 13):  # there, what these look at is a truth value already
    _TRUTH = {"TO_BOOL": Kind.TRUTH}

TOP: dict[str, Kind] = {
    "LOAD_ATTR": Kind.READ_ATTRIBUTE, "LOAD_METHOD": Kind.READ_ATTRIBUTE, "IMPORT_FROM": Kind.READ_ATTRIBUTE,
    "DELETE_ATTR": Kind.DELETE_ATTRIBUTE, "STORE_GLOBAL": Kind.WRITE_GLOBAL,
    "GET_ITER": Kind.ITERATE, "GET_YIELD_FROM_ITER": Kind.ITERATE, "FOR_ITER": Kind.ADVANCE,
    "UNPACK_SEQUENCE": Kind.UNPACK, "UNPACK_EX": Kind.UNPACK, "LIST_EXTEND": Kind.UNPACK,
    "SET_UPDATE": Kind.UNPACK, "DICT_UPDATE": Kind.UNPACK, "DICT_MERGE": Kind.UNPACK,
    "UNARY_POSITIVE": Kind.USE, "UNARY_NEGATIVE": Kind.USE, "UNARY_INVERT": Kind.USE, "GET_LEN": Kind.TRUTH,
    "BEFORE_WITH": Kind.ENTER_CONTEXT, "FORMAT_SIMPLE": Kind.FORMAT, "CONVERT_VALUE": Kind.FORMAT,
    "PRINT_EXPR": Kind.FORMAT, "LIST_TO_TUPLE": Kind.UNPACK, "MATCH_MAPPING": Kind.COUNTS,
    "MATCH_SEQUENCE": Kind.COUNTS, "GET_AITER": Kind.FIND, "GET_ANEXT": Kind.FIND,
    "GET_AWAITABLE": Kind.FIND, "BEFORE_ASYNC_WITH": Kind.FIND, **_TRUTH,
}  # fmt: skip
"""The topmost value is given."""
SECOND: dict[str, Kind] = {"SEND": Kind.ADVANCE, "FORMAT_WITH_SPEC": Kind.FORMAT}
"""The value below the topmost one is given."""
FOURTH: dict[str, Kind] = {"WITH_EXCEPT_START": Kind.EXIT_CONTEXT}
PAIR: dict[str, Kind] = {
    "BINARY_SUBSCR": Kind.READ_ITEM, "DELETE_SUBSCR": Kind.DELETE_ITEM, "STORE_ATTR": Kind.WRITE_ATTRIBUTE,
    "BINARY_OP": Kind.BINARY, "COMPARE_OP": Kind.COMPARE, "CONTAINS_OP": Kind.CONTAINS,
    "MATCH_KEYS": Kind.MATCH_KEYS,
}  # fmt: skip
"""The topmost value and the one below it are given."""
SEVERAL: dict[str, tuple[Kind, int]] = {
    "STORE_SUBSCR": (Kind.WRITE_ITEM, 3), "BINARY_SLICE": (Kind.READ_SLICE, 3),
    "STORE_SLICE": (Kind.WRITE_SLICE, 4), "LOAD_SUPER_ATTR": (Kind.SUPER, 3),
    "MATCH_CLASS": (Kind.MATCH_CLASS, 3),
}  # fmt: skip
"""So many values from the top are given, as a tuple, the lowest first."""
IMPORTING = frozenset({"IMPORT_NAME"})
BUILTINS = {"LOAD_BUILD_CLASS": "__build_class__"}
"""Instructions that look for a built-in function, and its name."""
FORGETTING = frozenset({"DELETE_FAST"})
RAISING = frozenset({"RAISE_VARARGS"})
"""What is raised lies below its cause, if there is one."""
GIVING_BACK = frozenset("RETURN_VALUE YIELD_VALUE RETURN_CONST".split())
GLOBALS: dict[str, Kind] = {
    "LOAD_GLOBAL": Kind.READ_GLOBAL, "LOAD_NAME": Kind.READ_GLOBAL, "DELETE_GLOBAL": Kind.DELETE_GLOBAL,
    "LOAD_FROM_DICT_OR_GLOBALS": Kind.READ_GLOBAL,
}  # fmt: skip
OF_NAMESPACE: dict[str, Kind] = {"STORE_NAME": Kind.WRITE_GLOBAL, "DELETE_NAME": Kind.DELETE_GLOBAL}
"""Of a module they touch global variables, of a class that is being made nothing that others see."""
CELLS: dict[str, Kind] = {
    "LOAD_DEREF": Kind.READ_CELL, "LOAD_CLASSDEREF": Kind.READ_CELL, "DELETE_DEREF": Kind.DELETE_CELL,
    "LOAD_FROM_DICT_OR_DEREF": Kind.READ_CELL, "STORE_DEREF": Kind.WRITE_CELL,
}  # fmt: skip
MAKING = frozenset("BUILD_LIST BUILD_SET BUILD_MAP BUILD_CONST_KEY_MAP".split())
COPYING = frozenset({"BINARY_SLICE"})
MAKING_BY_OPERATOR = frozenset({0, 1, 5, 7, 10, 12})
"""Numbers of `BINARY_OP` (+ & * | - ^) that make new containers of containers."""
CALLS = frozenset("CALL CALL_KW CALL_FUNCTION_EX".split())
FORMATS = frozenset({"FORMAT_VALUE"})
PLAIN_RESULT = frozenset("COMPARE_OP CONTAINS_OP IS_OP UNARY_NOT CHECK_EXC_MATCH CHECK_EG_MATCH".split())
"""After these a truth value is on top: nobody need be asked for it."""
UNSEEN = frozenset(
    """
    CACHE POP_TOP PUSH_NULL NOP PUSH_EXC_INFO CHECK_EXC_MATCH CHECK_EG_MATCH
    END_ASYNC_FOR
    LOAD_ASSERTION_ERROR RETURN_GENERATOR IMPORT_STAR
    SETUP_ANNOTATIONS ASYNC_GEN_WRAP
    PREP_RERAISE_STAR POP_EXCEPT SWAP LOAD_CONST BUILD_TUPLE JUMP_FORWARD IS_OP RERAISE COPY
    LOAD_FAST STORE_FAST POP_JUMP_FORWARD_IF_NOT_NONE POP_JUMP_FORWARD_IF_NONE
    MAKE_FUNCTION BUILD_SLICE JUMP_BACKWARD_NO_INTERRUPT MAKE_CELL LOAD_CLOSURE JUMP_BACKWARD
    EXTENDED_ARG LIST_APPEND SET_ADD MAP_ADD COPY_FREE_VARS RESUME BUILD_STRING PRECALL KW_NAMES
    POP_JUMP_BACKWARD_IF_NOT_NONE POP_JUMP_BACKWARD_IF_NONE INTERPRETER_EXIT END_FOR END_SEND CLEANUP_THROW
    LOAD_LOCALS LOAD_FAST_CHECK POP_JUMP_IF_NOT_NONE POP_JUMP_IF_NONE LOAD_FAST_AND_CLEAR CALL_INTRINSIC_1
    CALL_INTRINSIC_2 EXIT_INIT_CHECK SET_FUNCTION_ATTRIBUTE LOAD_FAST_LOAD_FAST STORE_FAST_LOAD_FAST
    STORE_FAST_STORE_FAST ENTER_EXECUTOR POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE UNARY_NOT
    """.split()
)
"""They touch only the stack, local variables, and objects that were just made, or call nothing but Python."""
KNOWN = (
    UNSEEN | TOP.keys() | SECOND.keys() | FOURTH.keys() | PAIR.keys() | SEVERAL.keys() | GLOBALS.keys()
    | OF_NAMESPACE.keys() | CELLS.keys() | MAKING | CALLS | FORMATS | IMPORTING | GIVING_BACK | RAISING
    | BUILTINS.keys() | FORGETTING
)  # fmt: skip
