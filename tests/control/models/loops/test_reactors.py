"""Reactors of `twisted`: the usual one is named, with what helps; that on asyncio is under control."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from possibly.control.models.loops.reactors import ON_ASYNCIO, REACTOR
from possibly.session.exploring.exploration import Options
from tests.control.runtime.running import explored

if find_spec("twisted") is None:
    pytest.skip("twisted is not installed", allow_module_level=True)

LOST = """\
from twisted.internet import defer, reactor, task
total, bad = 0, []
async def add(number):
    global total
    before = total
    await task.deferLater(reactor, 0.01, lambda: None)
    total = before + number
def stop(failure):
    bad.append(failure)
    reactor.stop()
both = defer.gatherResults([defer.ensureDeferred(add(1)), defer.ensureDeferred(add(2))])
both.addCallbacks(lambda _: reactor.stop(), stop)
reactor.run()
assert not bad and total == 3
"""
ON_LOOP = "from twisted.internet import asyncioreactor\nasyncioreactor.install()\n"


def test_the_usual_reactor_is_named(tmp_path: Path) -> None:
    found = explored(tmp_path, LOST, Options(seconds=30))
    assert found.holds is None and found.open[REACTOR].remedy == ON_ASYNCIO


def test_the_one_on_the_loop_of_asyncio_is_under_control(tmp_path: Path) -> None:
    found = explored(tmp_path, ON_LOOP + LOST, Options(minimise=0))
    assert found.failure is not None and found.failure.kind == "assertion"
