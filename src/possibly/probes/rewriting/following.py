"""What the rewriting of source is to tell of beside shared memory; set before anything is rewritten."""

from __future__ import annotations


class Followed:
    """Names of local variables, and of functions whose calls are told."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        self.functions: frozenset[str] = frozenset()


followed = Followed()
