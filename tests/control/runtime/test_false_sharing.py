"""What seems to be shared and is not, or cannot be told apart, costs no executions; what is shared does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.control.runtime.running import explored

TWO = """\
import threading
{before}
def first():
    {first}
def second():
    {second}
both = [threading.Thread(target=each) for each in (first, second)]
for each in both: each.start()
for each in both: each.join()
{after}
"""
STREAMS = "from io import StringIO\nstreams = [StringIO(), StringIO()]"
REGISTRY = "class A: pass\nclass B: pass\nregistry = {A: 0, B: 0}"
CACHE = "from urllib.parse import urlsplit\nurlsplit.cache_clear()\nseen = []"
READING = "limit, total = 1, 0"
ADDRESSES = "class Item: pass\none, two = Item(), Item()\ncounts = {id(one): 0, id(two): 0}"
PASSING = """\
class Row:
    def __init__(self, items): self.items = items
    @property
    def each(self): yield from self.items
def added(row):
    total = 0
    for _ in range(3):
        for number in row.each: total += number
    return total"""
OF_THREADS = """\
class Mine(threading.local):
    total = 0
    def __init__(self): self.n, self.items = 0, []
    def add(self): self.n += 1; self.items.append(self.n)
class Common(threading.local):
    __slots__ = ("n",)
mine, common = Mine(), Common()
common.n = 0"""
MADE_ONCE = """\
class Made:
    def __init__(self): self.a, self.b, self.items = 1, 2, []
kept = None
def made():
    global kept
    if kept is None: kept = Made()
    return kept.a + kept.b + len(kept.items)"""
IDENTITIES = "own = {}"
MINE = "own[threading.get_ident()] = 1; own[threading.get_ident()] += 1"
POOL = """\
import threading
from concurrent.futures import ThreadPoolExecutor
lock, total = threading.Lock(), 0
def add(amount):
    global total
    with lock: total += amount
with ThreadPoolExecutor(3) as pool: list(pool.map(add, range(3)))
assert total == 3
"""
TO_THREADS = """\
import asyncio
async def main(): return await asyncio.gather(asyncio.to_thread(len, "a"), asyncio.to_thread(len, "bc"))
assert asyncio.run(main()) == [1, 2]
"""


def program(before: str, first: str, second: str, after: str = "") -> str:
    return TWO.format(before=before, first=first, second=second, after=after)


@pytest.mark.parametrize(
    "source",
    [
        program(STREAMS, "streams[0].write('a'); streams[0].write('b')", "streams[1].write('c')"),
        program(REGISTRY, "registry[A] += 1", "registry[B] += 1", "assert sum(registry.values()) == 2"),
        program(CACHE, "urlsplit('http://a/b')", "urlsplit('http://a/b')"),
        program(ADDRESSES, "counts[id(one)] += 1", "counts[id(two)] += 1"),
        program(PASSING, "added(Row([1, 2]))", "added(Row([3]))"),
        program(OF_THREADS, "mine.add(); mine.add(); mine.x = 1", "mine.add(); mine.x = mine.n"),
    ],
    ids=[
        "texts in C",
        "items by classes",
        "a cache of the standard library",
        "items by addresses",
        "objects that come where others were",
        "what each thread has of its own",
    ],
)
def test_what_two_tasks_do_not_share_is_covered_at_once(source: str, tmp_path: Path) -> None:
    found = explored(tmp_path, source)
    assert found.complete, found.open
    assert found.executions - found.restarts <= 2


@pytest.mark.parametrize(
    "source",
    [
        program(
            STREAMS, "streams[0].write('a')", "streams[0].write('b')", "assert streams[0].getvalue() == 'ab'"
        ),
        program(REGISTRY, "registry[A] += 1", "registry[A] += 1", "assert registry[A] == 2"),
        program(ADDRESSES, "counts[id(one)] += 1", "counts[id(one)] += 1", "assert counts[id(one)] == 2"),
        program(
            CACHE, "urlsplit('http://a/b')", "seen.append(urlsplit.cache_info().misses)", "assert seen == [1]"
        ),
        program(
            OF_THREADS, "Mine.total = mine.total + 1", "Mine.total = mine.total + 1", "assert Mine.total == 2"
        ),
        program(OF_THREADS, "common.n += 1", "common.n += 1", "assert common.n == 2"),
        program(MADE_ONCE, "made()", "made(); kept.a += 1; made(); kept.a += 1", "assert made() == 5"),
    ],
    ids=[
        "texts in C",
        "items by classes",
        "items by addresses",
        "a cache of the standard library",
        "the class of what each thread has of its own",
        "slots of what each thread has of its own",
        "what is made once and changed then",
    ],
)
def test_what_they_share_is_still_seen(source: str, tmp_path: Path) -> None:
    assert explored(tmp_path, source).holds is False


def test_what_is_found_by_a_variable_is_no_choice_point_if_the_variable_is_one(tmp_path: Path) -> None:
    found = explored(tmp_path, program(MADE_ONCE, "made()", "made()", "assert made() == 3"))
    assert found.complete, found.open
    assert set(found.visible) == {"kept"}


def test_a_task_that_reads_much_before_what_is_known_to_be_shared_can_be_learnt_from(tmp_path: Path) -> None:
    adding = "global total; done = sum(limit for _ in range(1_001)); total += 1"
    found = explored(tmp_path, program(READING, adding, adding, "assert total > 0"))
    assert found.complete, found.open


def test_items_are_called_after_the_threads_whose_identities_they_have(tmp_path: Path) -> None:
    found = explored(tmp_path, program(IDENTITIES, MINE, MINE, "assert sorted(own.values()) == [2, 2]"))
    assert found.complete, found.open


@pytest.mark.parametrize(("source", "most"), [(POOL, 6), (TO_THREADS, 35)], ids=["a pool", "a loop"])
def test_how_a_pool_ends_and_hands_over_makes_few_orders(source: str, most: int, tmp_path: Path) -> None:
    found = explored(tmp_path, source)
    assert found.complete, found.open
    assert found.executions - found.restarts <= most


ENDING = """\
import weakref
class Value: pass
kept, others = [Value()], [object() for _ in range(4)]
look = weakref.ref(kept[0])
seen = []"""
DROPPING = "others.pop(); kept.clear(); others.pop()"
LOOKING = "found = look()\n    seen.append(found is None)"


def test_only_whoever_drops_what_weak_references_lead_to_is_ordered_with_those_who_look(
    tmp_path: Path,
) -> None:
    found = explored(tmp_path, TWO.format(before=ENDING, first=DROPPING, second=LOOKING, after=""))
    assert found.holds and found.executions - found.restarts <= 5
    after = "assert seen == [False]"
    assert (
        explored(tmp_path, TWO.format(before=ENDING, first=DROPPING, second=LOOKING, after=after)).holds
        is False
    )


CACHED = """\
import weakref
class Value: pass
kept, cache, seen = [Value()], weakref.WeakValueDictionary(), []
cache["a"] = kept[0]"""


def test_a_weak_container_is_ordered_with_those_alone_who_drop_what_it_leads_to(tmp_path: Path) -> None:
    found = explored(
        tmp_path,
        TWO.format(before=CACHED, first="kept.clear()", second="seen.append(cache.get('a'))", after=""),
    )
    assert found.failure is None and found.executions - found.restarts <= 12
