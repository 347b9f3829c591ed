"""Primitives that were made before there were models become models, wherever a name leads to them."""

from __future__ import annotations

import _thread
import sys
from typing import Any

from possibly.control.models import earlier, primitives


class Holder:
    shared: Any = _thread.allocate_lock()

    def __init__(self) -> None:
        self.own: Any = _thread.RLock()


def test_what_a_name_leads_to_is_a_model() -> None:
    inner: Any = _thread.allocate_lock()
    holder = Holder()
    space: dict[str, Any] = {
        "lock": _thread.allocate_lock(),
        "several": [_thread.allocate_lock()],
        "cell": lambda: inner,
        "holder": holder,
        "cls": Holder,
    }
    earlier.model(space)
    assert isinstance(space["lock"], primitives.Lock) and isinstance(space["several"][0], primitives.Lock)
    assert isinstance(holder.own, primitives.RLock) and isinstance(Holder.shared, primitives.Lock)
    assert isinstance(space["cell"](), primitives.Lock)


def test_what_is_of_nobodys_module_is_left_alone() -> None:
    space = {"module": sys, "number": 3, "text": "lock"}
    earlier.model(space)
    assert space == {"module": sys, "number": 3, "text": "lock"}
