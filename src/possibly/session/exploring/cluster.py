"""Exploring with the machines of a cluster: the connection, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from possibly.control.forking.zygote import ControlledProgram

if TYPE_CHECKING:
    from possibly.control.cluster.client import Cluster
    from possibly.session.exploring.exploration import Exploration, Options


@contextmanager
def connected(address: str | None, words: tuple[str, ...]) -> Iterator[Cluster | None]:
    """The cluster, as long as it is needed; None if none is asked for."""
    if address is None:
        yield None
        return
    from possibly.control.cluster.client import Cluster

    cluster = Cluster(address, words)
    try:
        yield cluster
    finally:
        cluster.close()


def put_into(cluster: Cluster | None, program: ControlledProgram, options: Options) -> Options:
    """Lets the program run there, as many executions at a time as there is room for."""
    if cluster is None:
        return options
    program.elsewhere = cluster.host
    return replace(options, jobs=cluster.threads, cluster=cluster)


def cost(cluster: Cluster, found: Exploration) -> str:
    """How many workers it took, and how long."""
    hours = cluster.threads * found.seconds / 3600
    return f"{cluster.workers} workers of the cluster, {hours:.2g} hours of them together"
