"""Memory that threads share is noticed where no message orders it, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.macro.inside.clocks import Known
from possibly.control.macro.tree import Tree
from tests.control.macro.test_real import program, tree_of

HEAD = """\
    import possibly
    from queue import Queue
    from threading import Thread
    inbox = Queue()

    class Account:
        def __init__(self):
            self.balance = 0

    total, seen, account, box = 0, [], Account(), {}

    def run(*bodies):
        threads = [Thread(target=body, name=f"T{number}") for number, body in enumerate(bodies)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
"""


def explored(tmp_path: Path, text: str) -> Tree:
    tree = tree_of(program(tmp_path, HEAD + text))
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    return tree


@pytest.mark.parametrize(
    ("does", "what"),
    [
        ("global total; total = total + 1", "total"),
        ("seen.append(1)", "seen"),
        ("account.balance += 1", "Account.balance"),
        ("box['a'] = 1", "box"),
    ],
)
def test_what_two_threads_touch_without_a_message_leaves_the_answer_open(
    does: str, what: str, tmp_path: Path
) -> None:
    tree = explored(
        tmp_path,
        f"""
    def one():
        {does}
        inbox.put(1)
    def two():
        inbox.put(2)
        {does}
    run(one, two)
    inbox.get(); inbox.get()
""",
    )
    assert tree.uncontrolled == [f"{what} is shared by threads, with no message in between"]
    assert tree.verdict is None


@pytest.mark.parametrize(
    "text",
    [
        # handed over with a message
        """
    def one():
        seen.append(1)
        account.balance = 1
        inbox.put(seen)
    def two():
        inbox.get().append(2)
        account.balance += 1
    run(one, two)
    assert (seen, account.balance) == ([1, 2], 2)
""",
        # one after the other, by joining
        """
    def one():
        global total
        total += 1
    run(one)
    run(one)
    assert total == 2
""",
        # read by all, written by nobody since they began
        """
    box["a"] = 1
    def one():
        assert box["a"] == 1
        inbox.put(len(seen))
    run(one, one)
    inbox.get(); inbox.get()
""",
        # each its own; a predicate may look at what is another's
        """
    @possibly.predicate
    def small(s):
        return total < 5
    possibly.claim("G small")
    def one():
        global total
        mine = [1]
        mine.append(2)
        total += len(mine)
        inbox.put(mine)
    def two():
        mine = inbox.get()
        mine.append(3)
    run(one, two)
""",
    ],
)
def test_what_messages_order_is_nobody_s_choice(text: str, tmp_path: Path) -> None:
    tree = explored(tmp_path, text)
    assert (tree.uncontrolled, tree.assumed, tree.verdict) == ([], [], True)


def test_the_order_may_be_there_on_one_path_only(tmp_path: Path) -> None:
    """Whoever gets the first message writes after the first put; on the other path nothing orders the two."""
    tree = explored(
        tmp_path,
        """
    def one():
        global total
        total = 1
        inbox.put("a")
    def two():
        inbox.put("b")
    def three():
        global total
        if inbox.get() == "a":
            total = 2
        else:
            total = 3
            inbox.get()
    run(one, two, three)
""",
    )
    assert tree.uncontrolled == ["total is shared by threads, with no message in between"]


def test_threads_of_an_imported_file_are_watched_too(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "from threading import Thread\n"
        "def both(body):\n"
        "    threads = [Thread(target=body) for _ in range(2)]\n"
        "    [each.start() for each in threads]\n"
        "    [each.join() for each in threads]\n"
    )
    text = "import helper\nnumbers = []\ndef body():\n    numbers.append(1)\nhelper.both(body)\n"
    tree = tree_of(program(tmp_path, text))
    assert tree.uncontrolled == ["numbers is shared by threads, with no message in between"]


TASKS = """\
    import asyncio
    seen, done = [], asyncio.Event
    async def get(n, box):
        await box.get()
        seen.append(n)
    async def put(box, n=0):
        seen.append(n) if n else None
        await box.put(n)
    async def main():
        one, two = asyncio.Queue(), asyncio.Queue()
        {body}
    asyncio.run(main())
    {after}
"""
SHARED = "seen is shared by tasks, with no message in between"


@pytest.mark.parametrize(
    ("body", "after", "uncontrolled"),
    [
        ("await asyncio.gather(get(1, one), get(2, two), put(one), put(two))", "", [SHARED]),
        ("await asyncio.gather(get(1, one), put(one, 2))", "assert seen == [2, 1]", []),
        ("await asyncio.gather(get(1, one), put(one)); seen.append(3)", "seen.clear()", []),
        ("task = asyncio.create_task(put(one, 1)); await task; seen.append(2)", "", []),
        ("task = asyncio.create_task(put(one, 1)); seen.append(2); await task", "", [SHARED]),
        (
            "async with asyncio.TaskGroup() as group: group.create_task(put(one, 1))\n        seen.append(2)",
            "",
            [],
        ),
        ("seen.append(2); await put(one, 1)", "", []),
    ],
)
def test_what_tasks_share_without_a_message_is_noticed(
    body: str, after: str, uncontrolled: list[str], tmp_path: Path
) -> None:
    tree = tree_of(program(tmp_path, TASKS.format(body=body, after=after)))
    assert [leaf.detail for leaf in tree.leaves] == [""] * len(tree.leaves)
    assert (tree.uncontrolled, tree.assumed) == (uncontrolled, [])


def test_what_was_published_is_learnt() -> None:
    one, two = Known(), Known()
    one.publish("m")
    two.learn("m")
    assert two.clock[one.index] == 1
    assert one.clock[one.index] == 2, "what comes after the message is not known"
    two.learn("nothing of the kind")
    assert set(two.clock) == {one.index, two.index}
