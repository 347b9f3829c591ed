"""The same question about many files: on several cores, each answer as it comes, none lost to a bad file.

Here belongs how work is spread and remembered, not what is asked. A process that dies, of a file that takes
all the memory say, costs that file's answer: the files that were under way are tried again, each alone.

A journal has a line for each file that was answered, with what the file and the question were; the same
question about the same file is not asked again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from functools import partial
from multiprocessing import get_context
from typing import Any

from possibly.errors import PossiblyError

Answer = dict[str, Any] | PossiblyError
"""A document, or why there is none."""
Question = Callable[[str], dict[str, Any]]
"""Of a module, so that another process can find it; asked with a path."""

AT_ONCE = 64
"""Files a core that are handed out ahead."""


def answers(question: Question, paths: Sequence[str], jobs: int) -> Iterator[tuple[str, Answer]]:
    """The answer for each path, as they come; with one job in the order of the paths."""
    if jobs == 1 or len(paths) < 2:
        for path in paths:
            yield path, _answer(question, path)
        return
    left = dict.fromkeys(paths)
    try:
        for path, answer in _spread(question, list(paths), jobs):
            del left[path]
            yield path, answer
    except BrokenProcessPool:
        yield from _one_by_one(question, list(left))


def answers_in(cluster: str, question: Question, paths: Sequence[str]) -> Iterator[tuple[str, Answer]]:
    """The answers as they come from the workers of a cluster, which must see the same files."""
    from possibly.control.cluster.client import Cluster

    with closing(Cluster(cluster, ())) as connected:
        at_once = max(1, connected.threads) * AT_ONCE
        for first in range(0, len(paths), at_once):
            asked = partial(_answer_from, os.getcwd(), question)
            yield from connected.answers(asked, paths[first : first + at_once])


def _spread(question: Question, paths: list[str], jobs: int) -> Iterator[tuple[str, Answer]]:
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        try:
            for first in range(0, len(paths), jobs * AT_ONCE):
                some = paths[first : first + jobs * AT_ONCE]
                asked = {pool.submit(_answer, question, path): path for path in some}
                for done in as_completed(asked):
                    yield asked[done], done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _one_by_one(question: Question, paths: list[str]) -> Iterator[tuple[str, Answer]]:
    """Each in a process of its own, so that whichever kills it is known."""
    for path in paths:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            try:
                yield path, pool.submit(_answer, question, path).result()
            except BrokenProcessPool:
                yield path, PossiblyError("the process that checked it died", file=path)


def _answer(question: Question, path: str) -> Answer:
    try:
        return question(path)
    except PossiblyError as error:
        return error


def _answer_from(folder: str, question: Question, path: str) -> Answer:
    """The same on a worker, whose own folder is another one; files are called as the user called them."""
    whole = os.path.join(folder, path)
    answer = _answer(question, whole)
    if isinstance(answer, PossiblyError):
        answer.file = path if answer.file == whole else answer.file
    elif answer.get("trace") == whole:
        answer["trace"] = path
    return answer


class Journal:
    """Answers that are known already, in a file that grows."""

    def __init__(self, path: str | None, about: object) -> None:
        self._path = path
        self._about = hashlib.sha256(repr(about).encode()).hexdigest()[:16]
        self._known: dict[str, dict[str, Any]] = {}
        for line in self._lines():
            if line.get("about") == self._about:
                self._known[line["file"]] = line

    def _lines(self) -> Iterator[dict[str, Any]]:
        if self._path is None or not os.path.exists(self._path):
            return
        with open(self._path, encoding="utf-8") as file:
            for text in file:
                try:
                    found = json.loads(text)
                except ValueError:
                    continue  # the last one, when it was cut off
                if isinstance(found, dict) and isinstance(found.get("file"), str):
                    yield found

    def known(self, path: str) -> dict[str, Any] | None:
        """The answer, if the file is still the one that it was about."""
        found = self._known.get(path)
        if found is None or found.get("stamp") != _stamp(path):
            return None
        answer = found.get("answer")
        return answer if isinstance(answer, dict) else None

    def put(self, path: str, answer: dict[str, Any]) -> None:
        if self._path is None:
            return
        line = {"file": path, "stamp": _stamp(path), "about": self._about, "answer": answer}
        with open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _stamp(path: str) -> list[int]:
    try:
        found = os.stat(path)
    except OSError:
        return []
    return [found.st_size, found.st_mtime_ns]
