"""More than one process, more than one machine: what is gained, and what it costs.

Three tables. The whole search of a program with many classes of schedules: executions a second, and what one
costs all processors, with `--jobs 2` and a local cluster of one and of two workers, its start left out. Many
traces: one `possibly check` for all of them, beside a loop that calls `possibly check` for each, measured on
some and multiplied. Events a second through a durable stream, from the sender's disk to the monitor with
acknowledgement, beside a client that publishes the same lines and reads them back; a server that is not
installed is left out. `--quick` takes smaller sizes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import psutil

from possibly.control.cluster.client import Cluster, local_cluster
from possibly.control.forking.zygote import script
from possibly.session.exploring.cluster import put_into
from possibly.session.exploring.exploration import Options
from possibly.session.exploring.explore import explore
from tests.session.streams.servers import COMMANDS, Server

PROGRAM = """
import threading
total, lock = 0, threading.Lock()
def add(rounds):
    global total
    for _ in range(rounds):
        with lock:
            total += 1
threads = [threading.Thread(target=add, args=(rounds,)) for rounds in {rounds}]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
WAYS = {"--jobs 2": 0, "1 worker": 1, "2 workers": 2}
"""Workers of a local cluster; none: processes of this one."""
TIMES = 3
"""So often each way is measured, in turn, so that a machine with other work is as busy for each."""
LOOPED = 10
"""Traces for which the loop is measured."""


class Cost(NamedTuple):
    """Of an execution, in a search that came to its end."""

    executions: int
    seconds: float
    processor: float
    """Seconds of all processes together."""


def processor_seconds() -> float:
    """Of this process and all that it started, living or not."""
    here = psutil.Process()
    times: list[Any] = [each.cpu_times() for each in (here, *here.children(recursive=True))]
    return float(sum(each.user + each.system + each.children_user + each.children_system for each in times))


def searched(path: Path, options: Options, cluster: Cluster | None) -> Cost:
    with script((str(path),)) as program:
        begun = processor_seconds()
        found = explore(program, put_into(cluster, program, options))
        assert found.complete or options.executions, found.open
        return Cost(found.executions, found.seconds, processor_seconds() - begun)


def searched_by(path: Path, workers: int) -> Cost:
    """A whole search; the start of a cluster is left out."""
    if not workers:
        return searched(path, Options(jobs=2), None)
    with local_cluster(workers) as here:
        cluster = Cluster(here.scheduler_address, (str(path),))
        searched(path, Options(executions=80), cluster)  # the workers are warm
        cost = searched(path, Options(), cluster)
        cluster.close()
    return cost


def show_executions(folder: Path, rounds: tuple[int, ...]) -> None:
    path = folder / "program.py"
    path.write_text(PROGRAM.format(rounds=rounds))
    print(f"a whole search: three tasks that increment {rounds} times under a lock")
    costs: dict[str, list[Cost]] = {name: [] for name in WAYS}
    for _ in range(TIMES):
        for name, workers in WAYS.items():
            costs[name].append(searched_by(path, workers))
    for name, each in costs.items():
        speed = median(cost.executions / cost.seconds for cost in each)
        processor = median(cost.processor / cost.executions for cost in each)
        print(
            f"  {name:10} {each[0].executions:8,} executions {speed:8,.0f} a second"
            f" {1000 * processor:8.2f} ms of processors each",
            flush=True,
        )


def write_traces(folder: Path, count: int, events: int) -> None:
    processes = [{"name": name, "init": {"x": 0}} for name in ("P", "Q")]
    head = json.dumps({"format": "possibly-trace", "version": 1, "processes": processes})
    for number in range(count):
        lines = [
            json.dumps({"p": "PQ"[event % 2], "set": {"x": (event + number) % 5}}) for event in range(events)
        ]
        (folder / f"run{number}.jsonl").write_text("\n".join([head, *lines]) + "\n")


def show_traces(folder: Path, count: int) -> None:
    runs = folder / "runs"
    runs.mkdir()
    write_traces(runs, count, 1_000)
    asked = ["--ctl", "AG(!(P.x == 9 & Q.x == 9))"]
    command = [os.path.join(os.path.dirname(sys.executable), "possibly"), "check"]

    def seconds(traces: list[str]) -> float:
        begun = perf_counter()
        subprocess.run([*command, *traces, *asked], stdout=subprocess.DEVNULL, check=True)
        return perf_counter() - begun

    together = seconds([str(runs / "*.jsonl")])
    alone = sum(seconds([str(runs / f"run{number}.jsonl")]) for number in range(LOOPED)) / LOOPED
    print(f"\n{count:,} traces of 1,000 events")
    print(f"  one possibly check            {together:8.1f} s")
    print(f"  a loop over possibly check    {alone * count:8.1f} s ({alone * 1000:.0f} ms each)", flush=True)


def lines(count: int) -> Iterator[bytes]:
    yield json.dumps(
        {"format": "possibly-trace", "version": 1, "processes": [{"name": "P", "init": {"x": 0}}]}
    ).encode()
    for number in range(count):
        yield json.dumps({"p": "P", "set": {"x": number % 5}}).encode()


def watched(server: Server, folder: Path, count: int) -> float:
    """Seconds of a monitor for what waits in the stream."""
    from possibly.session.watching.sending import Sender

    os.environ["POSSIBLY_OUTBOX"] = str(folder / "outbox")
    sender = Sender(server.address(), {"P": {"x": 0}})
    for number in range(count):
        sender.event("P", set={"x": number % 5})
    sender.close()
    properties = ["--ctl", "AG(P.x < 9)", "--ctl", "EF(P.x == 3)", "--ctl", "AG(!(P.x == 7))"]
    words = [os.path.join(os.path.dirname(sys.executable), "possibly"), "watch", server.address()]
    words += ["--connections", "1", "--state", str(folder / "state"), *properties]
    begun = perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return perf_counter() - begun


def bare_redis(server: Server, count: int) -> float:
    import redis

    client: Any = redis.Redis(port=server.port)
    pipe = client.pipeline(transaction=False)
    for number, line in enumerate(lines(count), start=1):
        pipe.xadd("bare", {"line": line})
        if number % 1_000 == 0:
            pipe.execute()
    pipe.execute()
    client.xgroup_create("bare", "group", id="0")
    begun = perf_counter()
    while found := client.xreadgroup("group", "one", {"bare": ">"}, count=1_000, block=100):
        client.xack("bare", "group", *(name for name, _ in found[0][1]))
    return perf_counter() - begun


def bare_nats(server: Server, count: int) -> float:
    import nats

    async def run() -> float:
        client: Any = await nats.connect(f"nats://127.0.0.1:{server.port}")
        stream = client.jetstream()
        await stream.add_stream(name="bare", subjects=["bare"])
        for line in lines(count):
            await client.publish("bare", line)
        await client.flush()
        reader = await stream.pull_subscribe("bare", "one")
        taken, begun = 0, perf_counter()
        while taken < count:
            for message in await reader.fetch(1_000, timeout=30):
                await message.ack()
                taken += 1
        seconds = perf_counter() - begun
        await client.close()
        return seconds

    return asyncio.run(run())


BARE: dict[str, Callable[[Server, int], float]] = {"redis": bare_redis, "nats": bare_nats}


def show_streams(folder: Path, count: int) -> None:
    print(f"\n{count:,} events through a durable stream, three properties: events a second")
    for scheme, command in COMMANDS.items():
        if shutil.which(command) is None:
            print(f"  {scheme}: {command} is not installed")
            continue
        server = Server(scheme, folder)
        try:
            own, bare = watched(server, folder, count), BARE[scheme](server, count)
        finally:
            server.kill()
        print(
            f"  {scheme:6} possibly watch {count / own:10,.0f}   the bare client {count / bare:10,.0f}",
            flush=True,
        )
        shutil.rmtree(folder / "state", ignore_errors=True)


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=("executions", "traces", "streams"))
    found: Any = parser.parse_args(words)
    parts: dict[str, Callable[[Path], None]] = {
        "executions": lambda folder: show_executions(folder, (3, 3, 3) if found.quick else (4, 4, 3)),
        "traces": lambda folder: show_traces(folder, 300 if found.quick else 10_000),
        "streams": lambda folder: show_streams(folder, 20_000 if found.quick else 200_000),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, show in parts.items():
            if found.only in (None, name):
                show(Path(folder))


if __name__ == "__main__":
    main()
