"""What the writer and the reader of columns agree on makes sense by itself."""

from __future__ import annotations

import array

from possibly.trace.columns.layout import HEAD, INDEX, MAGIC, MANY, RULES, SIZES


def test_every_rule_speaks_of_what_there_is() -> None:
    lengths = {"events", "starts", "any", *RULES}
    tables = {"processes", "strings", "values", "events", "line numbers", *RULES}
    for rule in RULES.values():
        assert rule.length in lengths and rule.table in tables
    assert set(MANY) <= set(RULES)


def test_a_list_of_starts_has_its_items() -> None:
    for name, rule in RULES.items():
        if rule.length == "starts":
            assert rule.is_ascending and rule.table in RULES and name.endswith("_start")


def test_sizes_are_those_of_arrays() -> None:
    for code, size in SIZES.items():
        assert array.array(code).itemsize == size
    assert all(set(codes) <= set(SIZES) for codes in INDEX.values())
    assert HEAD.size % 8 == 0 and len(MAGIC) == 8
