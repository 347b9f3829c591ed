"""`datetime`: now and today are those of the virtual clock."""

from __future__ import annotations

import datetime as library
import time
from typing import Any

from possibly.control.runtime import kernel as running
from possibly.probes.patching import Patches


class _Today(type):
    """Objects that C code has made count as instances too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.__mro__[1])


class datetime(library.datetime, metaclass=_Today):  # noqa: N801 - it takes the place of that name
    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return super().now(tz) if running.kernel is None else cls.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> Any:
        if running.kernel is None:
            return super().utcnow()
        return cls.fromtimestamp(time.time(), library.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()


class date(library.date, metaclass=_Today):  # noqa: N801
    @classmethod
    def today(cls) -> Any:
        return super().today() if running.kernel is None else cls.fromtimestamp(time.time())


def install(patches: Patches) -> None:
    patches.put(library, "datetime", datetime)
    patches.put(library, "date", date)
