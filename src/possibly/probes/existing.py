"""The objects of a type that exist, also those that `gc.freeze` hides from whoever asks the collector."""

from __future__ import annotations

import gc
from typing import TypeVar

Kind = TypeVar("Kind")


def existing(kind: type[Kind]) -> list[Kind]:
    """Those of exactly that type. What was frozen is frozen again, with what came since."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    found = [each for each in gc.get_objects() if type(each) is kind]
    if frozen:
        gc.freeze()
    return found
