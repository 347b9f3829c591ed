"""What is watched: words, and whether anything is at all."""

from __future__ import annotations

from possibly.probes.watching.watch import Watch
from possibly.records import replace

WORDS = frozenset({"x"})


def test_nothing_but_synchronisation() -> None:
    assert Watch().is_empty() and Watch(shared=True).is_empty()
    for field in ("names", "members", "functions", "shared_names", "shared_members"):
        assert not replace(Watch(), **{field: WORDS}).is_empty()
    assert not Watch(everything=True).is_empty() and not Watch(every_call=True).is_empty()


def test_containers_are_followed_where_some_variables_are_watched_and_not_all() -> None:
    assert Watch(names=WORDS).follows and Watch(shared_members=WORDS).follows
    assert not Watch(everything=True, names=WORDS).follows and not Watch(functions=WORDS).follows


def test_members() -> None:
    assert Watch(members=WORDS).is_member("x") and Watch(shared_members=WORDS).is_member("x")
    assert not Watch(names=WORDS).is_member("x")
    assert Watch(everything=True).is_member("any") and not Watch(everything=True).is_member("__dict__")


def test_switches_have_an_order() -> None:
    assert Watch(shared_names=frozenset("cab"), shared_members=frozenset("ad")).unasked == (
        "a",
        "b",
        "c",
        "d",
    )
