"""A process that begins anew (`spawn`, `forkserver`), as it would find itself in an interpreter of its own.

It is forked like any other. What it is given travels as bytes, and the modules of the program are imported
again, the first of them as `__mp_main__`: so it has nothing of what they held. Installed packages and the
standard library stay as they are, which is named as an assumption.
"""

from __future__ import annotations

import pickle
import sys
from multiprocessing import context
from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any

from possibly.control.loading.instrumented import Main
from possibly.probes import port

ASSUMED = "processes that are spawned find packages and the standard library as their parent left them"


def as_bytes(process: Any, popen: Any) -> bytes:
    """What the process is given; what cannot travel is refused as it would be."""
    context.set_spawning_popen(popen)
    try:
        return bytes(ForkingPickler.dumps(process))
    finally:
        context.set_spawning_popen(None)


def born(data: bytes) -> Any:
    """In the new process: the process again, after its modules are."""
    main = sys.modules.get("__main__")
    forget_modules()
    _import_main(getattr(main, "__file__", None))
    return pickle.loads(data)


def forget_modules() -> None:
    """Modules of the program are to be imported again, but for the first."""
    main = sys.modules.get("__main__")
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and port.is_user_file(file) and module is not main:
            del sys.modules[name]


def _import_main(file: str | None) -> None:
    if file is None or not port.is_user_file(file):
        return
    module = ModuleType("__mp_main__")
    module.__file__ = file
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    Main("__mp_main__", file).exec_module(module)
