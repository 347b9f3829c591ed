"""What is known of methods of containers and of functions of libraries, by their names (see `calls`).

What stands in no table is taken to change whatever it is given.
"""

from __future__ import annotations

from possibly.control.execution import Access

READERS = frozenset("items keys values copy __iter__ __reversed__ elements total".split())
COMPARING = frozenset(
    "index count most_common union intersection difference symmetric_difference issubset issuperset "
    "isdisjoint __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __repr__ __str__ __add__ __or__ __and__".split()
)
"""They look into what the container holds."""
STORING = frozenset("append appendleft insert add setdefault __setitem__ pop".split())
"""They keep their argument without looking into it."""
KEEPING = frozenset({"setdefault", "pop"})
"""Methods of a dictionary that change one item at most."""
OF_ONE = frozenset({"add", "discard", "remove"})
"""Methods of a set that change one item at most."""
SHALLOW = frozenset(
    "list tuple dict deque defaultdict OrderedDict bytes bytearray len iter bool next "
    "product permutations combinations combinations_with_replacement".split()
)
"""Built-in functions that read what a container holds, and do not look into that."""
FIRST_CHANGED = frozenset(
    "heappush heappop heapify heapreplace heappushpop insort insort_left insort_right shuffle "
    "_count_elements _remove_dead_weakref".split()
)
"""Functions of libraries that change their first argument and read the others."""
FILLING = frozenset("pack_into readinto readinto1 recv_into recvfrom_into recvmsg_into".split())
"""Functions that change what they are given, whatever else their module does."""
WHOLE = frozenset({"__reduce_ex__", "__reduce__", "__getstate__"})
"""Methods that look at all attributes of an object, as copying and pickling do."""
SIZES = frozenset({"__len__", "__bool__"})
BY_KEY = frozenset({"get", "__getitem__", "__contains__"})
ONLY_LOOKING = READERS | COMPARING | SIZES | BY_KEY
"""Methods of containers that change nothing."""
LOOKING_OPERATORS = frozenset(
    "__hash__ __format__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __pow__ __xor__ __neg__ "
    "__pos__ __abs__ __invert__ __lshift__ __rshift__ __matmul__ __int__ __float__ __index__ "
    "__radd__ __rsub__ __rmul__ __length_hint__ __dir__ __sizeof__ __bytes__ __get__".split()
)
"""Operators that change nothing."""
LOOKING = frozenset("get keys items values copy".split())
"""Methods of a library's mappings that change nothing."""
HARMLESS = frozenset(
    "threading _thread queue _queue asyncio _asyncio concurrent time contextlib possibly logging "
    "multiprocessing unittest pytest typing abc warnings signal _signal os atexit weakref "
    "_weakref contextvars _contextvars enum types posix nt "
    "socket _socket selectors socketserver".split()
)
"""Modules whose functions hand containers on, or do not look into them."""
ONLY_READING = frozenset(
    "builtins sys gc inspect json _json pickle _pickle copy math statistics itertools functools "
    "_functools operator _operator re string pprint struct _struct hashlib _hashlib textwrap fnmatch decimal "
    "fractions datetime io _io reprlib dataclasses collections _collections pathlib posixpath "
    "genericpath".split()
)
SHOWING_FAILURES = "_pytest.assertion"
"""The package that makes the text of a failed `assert`: it looks at values and changes none."""
STATELESS: dict[str, str] = {
    "they compute from what they are given": (
        "_ast _bisect _blake2 _bz2 _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr "
        "_codecs_tw _crypt _datetime _elementtree _heapq _imp _lzma _md5 _multibytecodec _opcode "
        "_random _sha1 _sha2 _sha256 _sha3 _sha512 _sre _ssl _stat _statistics _string "
        "_suggestions _symtable _tokenize _typing _zoneinfo array audioop binascii cmath errno "
        "heapq bisect marshal pyexpat unicodedata zlib numpy scipy orjson ujson msgpack markupsafe "
        "pydantic_core rpds yaml _yaml regex"
    ),
    "what they touch is outside, and told of as such": (
        "fcntl grp mmap pwd select spwd termios _multiprocessing _posixshmem _posixsubprocess ossaudiodev"
    ),
    "what they keep belongs to one thread": "_ctypes ctypes _decimal",
    "what they give is new each time": "_uuid secrets",
}
"""Modules in C, of the standard library and of packages, whose functions keep no state, and why."""
WITHOUT_STATE = HARMLESS | ONLY_READING | {name for names in STATELESS.values() for name in names.split()}
ASKING = ("get", "is_", "has_", "list", "lookup", "encode", "decode", "utf_", "complete_")
"""So begin the names of functions of the standard library that only ask for the state of their module."""
ADDRESSED = frozenset(
    {
        ("sys", "getrefcount"), ("sys", "_current_frames"), ("sys", "_current_exceptions"),
        ("sys", "getallocatedblocks"), ("gc", "get_objects"), ("gc", "get_referrers"), ("gc", "get_count"),
        ("gc", "get_stats"), ("_tracemalloc", "get_traced_memory"), ("_tracemalloc", "_get_traces"),
        ("resource", "getrusage"),
    }
)  # fmt: skip
"""Functions whose answer depends on everything that every task does."""
IN_PLACE = frozenset("iadd iand iconcat ifloordiv ilshift imod imul ior ipow isub ixor itruediv".split())
"""Functions of `operator` that change their first argument."""
OUTSIDE = {
    "_thread": ("interrupt_main",),
    "_signal": ("signal", "setitimer", "alarm", "raise_signal", "pthread_kill", "siginterrupt"),
    "signal": ("signal", "setitimer", "alarm", "raise_signal", "pthread_kill", "siginterrupt"),
}
"""Functions after which something happens at moments that are not ours to choose."""
CONFIGURING = frozenset(
    "addHandler removeHandler setLevel addFilter removeFilter basicConfig disable setFormatter addLevelName "
    "dictConfig fileConfig captureWarnings setLoggerClass setLogRecordFactory shutdown".split()
)
"""Functions of `logging` that change what others' messages meet."""
DIRECTORY = "the working directory"
_WARNINGS = "the filters of warnings"
_LIMIT = "the limit of recursion"
_COLLECTOR = "the collector"
_LOCALE = "the locale"
_DIALECTS = "the dialects of csv"
DIGITS = "the limit of digits"
_FLAGS = "how libraries are opened"
_PRIORITY = "the priority of the process"
_DESCRIPTORS = "what descriptors of files are set to"
ZONE = "the time zone"
_HANDLERS = "the handlers of signals"
ADAPTERS = "what sqlite3 makes of objects and columns"
_CLASSES = "what classes count as subclasses"
PROCESS_STATE: dict[tuple[str, str], tuple[str, bool]] = {
    ("posix", "chdir"): (DIRECTORY, True), ("posix", "fchdir"): (DIRECTORY, True),
    ("posix", "getcwd"): (DIRECTORY, False), ("posix", "getcwdb"): (DIRECTORY, False),
    ("nt", "chdir"): (DIRECTORY, True), ("nt", "getcwd"): (DIRECTORY, False),
    ("pathlib", "cwd"): (DIRECTORY, False), ("pathlib", "absolute"): (DIRECTORY, False),
    ("posixpath", "abspath"): (DIRECTORY, False),
    ("posix", "umask"): ("the mask of new files", True),
    ("sys", "setrecursionlimit"): (_LIMIT, True), ("sys", "getrecursionlimit"): (_LIMIT, False),
    ("sys", "setswitchinterval"): ("the switch interval", True),
    ("sys", "getswitchinterval"): ("the switch interval", False),
    ("gc", "enable"): (_COLLECTOR, True), ("gc", "disable"): (_COLLECTOR, True),
    ("gc", "isenabled"): (_COLLECTOR, False), ("gc", "set_threshold"): (_COLLECTOR, True),
    ("gc", "get_threshold"): (_COLLECTOR, False), ("gc", "set_debug"): (_COLLECTOR, True),
    ("gc", "get_debug"): (_COLLECTOR, False), ("gc", "freeze"): (_COLLECTOR, True),
    ("gc", "unfreeze"): (_COLLECTOR, True), ("gc", "get_freeze_count"): (_COLLECTOR, False),
    ("warnings", "simplefilter"): (_WARNINGS, True), ("warnings", "filterwarnings"): (_WARNINGS, True),
    ("warnings", "resetwarnings"): (_WARNINGS, True), ("warnings", "warn"): (_WARNINGS, True),
    ("_warnings", "warn"): (_WARNINGS, True), ("warnings", "warn_explicit"): (_WARNINGS, True),
    ("_warnings", "warn_explicit"): (_WARNINGS, True), ("_warnings", "_filters_mutated"): (_WARNINGS, True),
    ("warnings", "__enter__"): (_WARNINGS, True), ("warnings", "__exit__"): (_WARNINGS, True),
    ("locale", "setlocale"): (_LOCALE, True), ("locale", "getlocale"): (_LOCALE, False),
    ("locale", "localeconv"): (_LOCALE, False), ("_locale", "setlocale"): (_LOCALE, True),
    ("_locale", "localeconv"): (_LOCALE, False),
    ("abc", "register"): (_CLASSES, True), ("_abc", "_abc_register"): (_CLASSES, True),
    ("socket", "setdefaulttimeout"): ("the time-out of sockets", True),
    ("socket", "getdefaulttimeout"): ("the time-out of sockets", False),
    ("_socket", "setdefaulttimeout"): ("the time-out of sockets", True),
    ("_socket", "getdefaulttimeout"): ("the time-out of sockets", False),
    ("threading", "setprofile"): ("the profile function", True),
    ("threading", "settrace"): ("the trace function", True),
    ("threading", "stack_size"): ("the size of stacks", True),
    ("_csv", "register_dialect"): (_DIALECTS, True), ("_csv", "unregister_dialect"): (_DIALECTS, True),
    ("_csv", "field_size_limit"): (_DIALECTS, True), ("_csv", "list_dialects"): (_DIALECTS, False),
    ("_csv", "get_dialect"): (_DIALECTS, False), ("_csv", "reader"): (_DIALECTS, False),
    ("_csv", "writer"): (_DIALECTS, False),
    ("decimal", "setcontext"): ("the context of decimal numbers", True),
    ("sys", "set_int_max_str_digits"): (DIGITS, True), ("sys", "get_int_max_str_digits"): (DIGITS, False),
    ("sys", "setdlopenflags"): (_FLAGS, True), ("sys", "getdlopenflags"): (_FLAGS, False),
    ("posix", "nice"): (_PRIORITY, True), ("posix", "setpriority"): (_PRIORITY, True),
    ("posix", "getpriority"): (_PRIORITY, False), ("posix", "set_blocking"): (_DESCRIPTORS, True),
    ("posix", "get_blocking"): (_DESCRIPTORS, False), ("posix", "set_inheritable"): (_DESCRIPTORS, True),
    ("posix", "get_inheritable"): (_DESCRIPTORS, False), ("time", "tzset"): (ZONE, True),
    ("time", "localtime"): (ZONE, False), ("time", "mktime"): (ZONE, False),
    ("_sqlite3", "register_adapter"): (ADAPTERS, True),
    ("_sqlite3", "register_converter"): (ADAPTERS, True),
    ("_signal", "getsignal"): (_HANDLERS, False), ("signal", "getsignal"): (_HANDLERS, False),
    ("_signal", "signal"): (_HANDLERS, True), ("signal", "signal"): (_HANDLERS, True),
}  # fmt: skip
"""Functions that read or change a state of the whole process: (module, name) -> (the state, changes)."""
SUBCLASSES = Access(_CLASSES, False)


LEVELS = frozenset("debug info warning warn error critical exception log".split())
