from __future__ import annotations

import pytest

from possibly.errors import FormulaError
from possibly.logic.parser import parse
from possibly.logic.specification import (
    CLASS_WORDS,
    Let,
    Property,
    Specification,
    Sync,
    property_from_text,
    read_specification,
)

TEXT = """\
# a bounded buffer
let    empty  = Buffer.number == 0     # nothing in it
let stable dead = done(P1)
ctl    safe   = AG(Buffer.number ==
                   # what went in
                   Producer.count

                   - Consumer.count)
ltl    drains = G(!empty -> F empty)
tl     mutex  = not (t1:(in.append) and t2:(in.append)) if t1 != t2
sync   P(S): release(S); acquire(S)
expect proto  = open; (read + write)*; close
never  race   = [X'] & enqueue # don't
watch  seen   = enqueue & dequeue { print("#"); break }
"""


ONE_OF = "a line begins with one of let ctl ltl tl expect never watch pattern event sync"


def error(text: str) -> str:
    with pytest.raises(FormulaError) as found:
        read_specification(text, "s")
    return str(found.value)


def test_a_whole_file() -> None:
    found = read_specification(TEXT, "buffer.spec")
    assert found.lets == (
        Let(
            "empty",
            None,
            parse("Buffer.number == 0", "predicate"),
            "Buffer.number == 0",
            2,
            "buffer.spec",
            17,
        ),
        Let("dead", "stable", parse("done(P1)", "predicate"), "done(P1)", 3, "buffer.spec", 19),
    )
    assert [(each.language, each.name, each.line, each.column) for each in found.properties] == [
        ("ctl", "safe", 4, 17),
        ("ltl", "drains", 9, 17),
        ("tl", "mutex", 10, 17),
        ("expect", "proto", 12, 17),
        ("never", "race", 13, 17),
        ("watch", "seen", 14, 17),
    ]
    assert found.syncs == (Sync("P(S): release(S); acquire(S)", "buffer.spec", 11, 8),)


def test_formulas_are_parsed_and_other_texts_kept() -> None:
    properties = {each.name: each for each in read_specification(TEXT).properties}
    whole = "AG(Buffer.number == Producer.count - Consumer.count)"
    assert properties["safe"].formula == parse(whole, "ctl")
    assert properties["drains"].formula == parse("G(!empty -> F empty)", "ltl")
    assert properties["race"].formula is None
    assert properties["race"].text == "[X'] & enqueue"
    assert properties["seen"].text == 'enqueue & dequeue { print("#"); break }'


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n   # here\n", "\ufeff"])
def test_nothing(text: str) -> None:
    assert read_specification(text) == Specification()


def test_foreign_line_ends_and_marks() -> None:
    found = read_specification("\ufeffctl a = x\r\n  & y\r\nctl b = z\r\n")
    assert [(each.name, each.line) for each in found.properties] == [("a", 1), ("b", 3)]
    assert found.properties[0].formula == parse("x & y", "ctl")


@pytest.mark.parametrize("word", CLASS_WORDS)
def test_declared_classes(word: str) -> None:
    assert read_specification(f"let {word} name = x").lets[0].declared == word


def test_a_name_may_follow_in_another_namespace() -> None:
    found = read_specification("let a = x\nctl a = a\nltl a-b.c = a")
    assert (len(found.lets), len(found.properties)) == (1, 2)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("let x = 1\nlet x = 2", "s:2:5: `x` is defined a second time (the first stands in line 1)"),
        ("ctl p = x\n\nltl p = x", "s:3:5: `p` is defined a second time (the first stands in line 1)"),
        ("lett x = 1", "s:1:1: unknown keyword `lett` (did you mean let?)"),
        ("AG(x)", f"s:1:1: unknown keyword `AG(x)` ({ONE_OF})"),
        ("ctl x", "s:1:4: expected `ctl name = ...`"),
        ("ctl = x", "s:1:4: expected `ctl name = ...`"),
        ("ctl a b = x", "s:1:4: expected `ctl name = ...`"),
        ("ctl a == x", "s:1:4: expected `ctl name = ...`"),
        ("let a b c = x", "s:1:4: expected `let [class] name = ...`"),
        ("ctl", "s:1:4: expected `ctl name = ...`"),
        ("ctl a =", "s:1:7: expected a formula after `=`"),
        ("expect a =   # nothing", "s:1:10: expected a formula after `=`"),
        ("let a-b = 1", "s:1:5: `a-b` is not a name"),
        ("ctl a/b = 1", "s:1:5: `a/b` is not a name"),
        ("let regula a = 1", "s:1:5: unknown class `regula` (did you mean regular or co-regular?)"),
        ("  ctl a = x", "s:1:3: this line continues nothing (an indented line continues the one before)"),
        ("sync P(S)", "s:1:5: expected `sync name(variables): ...`"),
        ("sync P(S):", "s:1:5: expected `sync name(variables): ...`"),
        ("ctl a = AG(\n  x ==\n\n  )", "s:4:3: expected a value or a formula, found `)`"),
        ("let a = EF x", "s:1:12: expected an operator or the end of the formula, found `x`"
         " (`EF` is an operator of ctl; a state predicate has no temporal operators)"),
        ("ctl a = x = 1", "s:1:11: `=` is not an operator (write `==` to compare)"),
        ("\x00\x01", f"s:1:1: unknown keyword `\x00\x01` ({ONE_OF})"),
    ],
)  # fmt: skip
def test_errors(text: str, message: str) -> None:
    assert error(text) == message


def test_a_property_alone() -> None:
    found = property_from_text("ctl", "EF x", "ctl1")
    assert found == Property("ctl1", "ctl", "EF x", parse("EF x", "ctl"), "--ctl", 1, 1)
    assert property_from_text("never", "a & b", "never1").formula is None


@pytest.mark.parametrize(
    ("language", "text", "message"),
    [("ltl", "G(", "--ltl:1:3: expected a value or a formula, found the end of the formula"),
     ("watch", " ", "--watch:1:1: the formula is empty")],
)  # fmt: skip
def test_errors_of_a_property_alone(language: str, text: str, message: str) -> None:
    with pytest.raises(FormulaError) as found:
        property_from_text(language, text, "name")
    assert str(found.value) == message
