"""What an exploration is to tell of beside shared memory; set before anything is instrumented."""

from __future__ import annotations


class Followed:
    """Names of local variables, and of functions whose calls are told."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self.functions: frozenset[str] = frozenset()


followed = Followed()
