"""What no look at objects shows (`heap`): which modules may be used all the same, and the process's state.

Law: a program that uses no more than this changes nothing that outlives an execution but objects, which are
looked at, files, which are put back (`disk`), and the state of the process, of which `standing` tells. So
where all of these are as they were, the next execution begins as in a fresh process. Modules of which parts
keep something in C are in `PARTLY`, with the names that do not; a program that uses others is not executed
again in its process. Of names that lead to how the interpreter is made, and to what depends on a process
(`id`, the depth of the stack, finalisers), `repeatable` tells.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextvars import copy_context
from itertools import chain
from typing import Any

SEEN = frozenset(
    """
    __future__ abc argparse ast atexit base64 binascii bisect calendar cmath codecs collections
    collections.abc colorsys configparser contextlib contextvars copy copyreg csv dataclasses
    datetime difflib enum errno filecmp fnmatch fractions functools getopt glob graphlib hashlib
    heapq hmac html html.entities html.parser io ipaddress itertools json json.decoder json.encoder
    keyword linecache logging logging.handlers math mimetypes numbers operator optparse os.path
    pathlib pickle posixpath pprint queue quopri re reprlib sched secrets shlex shutil stat
    statistics string stringprep struct tempfile textwrap token traceback types typing unicodedata
    urllib.parse uuid warnings zlib
    """.split()
)
"""Modules of the standard library whose state is in objects of Python, or that have none."""
PARTLY = {
    module: frozenset(names.split())
    for module, names in {
        "asyncio": "run sleep gather create_task wait wait_for timeout timeout_at shield as_completed "
        "TaskGroup Lock Event Condition Semaphore BoundedSemaphore Barrier Queue LifoQueue PriorityQueue "
        "QueueEmpty QueueFull CancelledError TimeoutError InvalidStateError Task Future FIRST_COMPLETED "
        "FIRST_EXCEPTION ALL_COMPLETED current_task ensure_future iscoroutine iscoroutinefunction "
        "get_running_loop",
        "os": "PathLike DirEntry stat_result environ getcwd getcwdb chdir umask cpu_count sep altsep extsep "
        "linesep curdir pardir devnull pathsep name error getenv strerror fspath fsencode fsdecode "
        "open close read write remove unlink rename replace mkdir makedirs rmdir removedirs listdir "
        "scandir walk stat lstat truncate fsync access link symlink readlink getpid getppid urandom "
        "O_RDONLY O_WRONLY O_RDWR O_CREAT O_EXCL O_TRUNC O_APPEND F_OK R_OK W_OK X_OK SEEK_SET "
        "SEEK_CUR SEEK_END",
        "random": "random uniform randint choice randrange sample shuffle choices gauss seed getrandbits "
        "Random",
        "sys": "argv exit maxsize stderr stdin stdout version version_info path modules platform executable "
        "byteorder getdefaultencoding exc_info float_info maxunicode implementation builtin_module_names "
        "stdlib_module_names hexversion meta_path path_hooks excepthook displayhook flags",
        "threading": "Thread Lock RLock Condition Semaphore BoundedSemaphore Event Barrier "
        "BrokenBarrierError Timer current_thread main_thread active_count enumerate excepthook TIMEOUT_MAX",
        "time": "sleep time time_ns monotonic monotonic_ns perf_counter perf_counter_ns strftime gmtime "
        "localtime mktime strptime struct_time asctime ctime",
    }.items()
}
"""Of modules that keep something in C, or that show the process itself: what does not."""
_umask, _handler, _getcwd = os.umask, signal.getsignal, os.getcwd
_NUMBERS = sorted(signal.valid_signals())


def standing() -> tuple[Any, ...]:
    """The state of the process that is in no object."""
    mask = _umask(0o77)
    _umask(mask)
    hooks = sys.get_asyncgen_hooks()
    return (
        mask,
        _directory(),
        *map(_handler, _NUMBERS),
        *chain(*copy_context().items()),
        *hooks,
        sys.gettrace(),
        sys.getprofile(),
        sys.getrecursionlimit(),
        sys.getswitchinterval(),
        sys.get_coroutine_origin_tracking_depth(),
        sys.get_int_max_str_digits() if hasattr(sys, "get_int_max_str_digits") else 0,
        gc.get_threshold(),
        gc.get_debug(),
    )


def is_as_it_was(before: tuple[Any, ...]) -> bool:
    """Whether the process stands as it stood then."""
    now = standing()
    return len(now) == len(before) and all(_is_same(*pair) for pair in zip(now, before, strict=True))


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (
        type(one) is type(other) and type(one) in (int, float, str, tuple) and one == other
    )


def _directory() -> str:
    try:
        return _getcwd()
    except OSError:  # it was removed
        return ""
