"""What a monitor knows, saved whole: a file that is replaced at once, or not at all.

Saved are plain values and the objects of the order and of the parts that follow formulas; predicates are
saved as formulas and compiled again. Loading makes nothing but these types, whatever the file says. A
checkpoint belongs to its properties, order and version of possibly: of others it is refused.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from pathlib import Path
from typing import Any

from possibly.errors import PossiblyError, UsageError

PLAIN = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("builtins", "bytearray"),
    ("builtins", "object"),
    ("collections", "deque"),
    ("copyreg", "_reconstructor"),
}
OURS = (
    "possibly.errors",
    "possibly.order.",
    "possibly.detection.online.",
    "possibly.logic.",
    "possibly.session.",
    "possibly.verdict.",
)


_BROKEN = (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, ImportError)


class _Careful(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN or (module.startswith(OURS) and "." not in name):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} does not belong into a checkpoint")


class Checkpoint:
    """A file for one monitor."""

    def __init__(self, folder: str, *what: object) -> None:
        """`what` the monitor is about: its checkpoint is of no use for anything else."""
        self._folder = Path(folder)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot keep checkpoints in {folder}: {error.strerror}") from None
        self._path = self._folder / "checkpoint"
        self._digest = hashlib.sha256(repr(what).encode()).hexdigest()

    def save(self, state: Any) -> int:
        """How many bytes it took."""
        data = pickle.dumps((self._digest, state), protocol=5)
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        return len(data)

    def load(self) -> Any:
        """What was saved last; None: nothing was."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            digest, state = _Careful(io.BytesIO(data)).load()
        except (
            pickle.UnpicklingError,
            EOFError,
            ValueError,
            TypeError,
            AttributeError,
            ImportError,
        ) as error:
            raise PossiblyError(f"the checkpoint cannot be read: {error}", file=str(self._path)) from None
        if digest != self._digest:
            raise PossiblyError(
                "the checkpoint is that of other properties, another stream or another version of possibly",
                file=str(self._path),
                hint="--state DIR names another folder, where the monitor begins at the beginning",
            )
        return state
