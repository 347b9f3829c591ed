"""What is to be recorded beside synchronisation: which variables, which calls, how much unasked."""

from __future__ import annotations

from possibly.records import dataclass

MUTATORS = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear sort reverse rotate update "
    "setdefault add discard intersection_update difference_update symmetric_difference_update".split()
)
"""Methods that change a container."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is to be recorded beside synchronisation."""

    names: frozenset[str] = frozenset()
    """Shared variables by their bare name."""
    members: frozenset[str] = frozenset()
    """The last word of dotted names: attributes, locals of a process, globals of a module."""
    functions: frozenset[str] = frozenset()
    everything: bool = False
    """Every access that another thread could see."""
    arguments: frozenset[str] = frozenset()
    """Functions whose calls are told with their arguments."""
    scoped: frozenset[str] = frozenset()
    """Locals that are told as those of their function, `f.x`, too, and the calls of that."""
    every_call: bool = False
    """Calls of all functions that are no generators, as far as `most_calls` goes."""
    shared: bool = False
    """Accesses that conflict and are not ordered are told."""
    most_calls: int = 0
    """Of a function that was called more often nothing is kept, unless it is named; 0: of none. The same for
    lines that touch a variable which nobody named."""
    shared_names: frozenset[str] = frozenset()
    """Globals that tasks may share (`candidates`), told as long as that is not too much."""
    shared_members: frozenset[str] = frozenset()
    """Attributes of that kind."""

    @property
    def follows(self) -> bool:
        """Whether containers are followed that a watched variable holds, by whatever name they change."""
        return bool(self.names or self.members or self.unasked) and not self.everything

    @property
    def unasked(self) -> tuple[str, ...]:
        """Words that are told as long as that is not too much: the place of each is that of its switch."""
        return tuple(sorted(self.shared_names | self.shared_members))

    @property
    def words(self) -> frozenset[str]:
        """Every word of a variable."""
        return self.names | self.members | self.shared_names | self.shared_members

    def is_member(self, attribute: str) -> bool:
        """Whether an attribute of that name is watched."""
        is_named = attribute in self.members or attribute in self.shared_members
        return (is_named or self.everything) and not attribute.startswith("__")

    def is_empty(self) -> bool:
        """Whether nothing is to be told but synchronisation."""
        named = self.names or self.members or self.functions or self.unasked
        return not (named or self.everything or self.every_call)
