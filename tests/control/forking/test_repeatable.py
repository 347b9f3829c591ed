"""What a program may contain that is executed again in its process, and each way out of that."""

from __future__ import annotations

import ast

import pytest

from possibly.control.forking.repeatable import judged

ALLOWED = {
    "threads": "import threading\nt = threading.Thread(target=print)\nt.start()\nt.join()\n",
    "names of its own": "from queue import Queue\nq = Queue()\nq.queue.append(1)\n",
    "a field that is called like a function": "class A:\n    id: int = 0\nprint(A().id)\n",
    "classes": "class A:\n    n = 0\n    def __init__(self):\n        self.n = A.n\n        A.n += 1\n",
    "a constant set": "print(1 in {1, 2})\n",
    "getattr of a word": "print(getattr(print, 'name', 0))\n",
    "super": "from threading import Thread\nclass T(Thread):\n    def __init__(self): super().__init__()\n",
    "the main guard": "def main(): pass\nif __name__ == '__main__': main()\n",
    "any import": "import os, re, json, logging, sqlite3\nfrom os import path\nprint(path.join('a', 'b'))\n",
    "modules without a state": "import re, json, os.path\nprint(re.match('a', json.dumps(os.path.sep)))\n",
    "a log": "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.getLogger('a').info('b')\n",
    "sets": "print({x for x in [1]}, set([2]), {3, len('a')}, hash('a'))\n",
    "a file": "import os\nwith open('x', 'w') as f: f.write('y')\nos.remove('x')\n",
    "coroutines": "import asyncio\nasync def f(): await asyncio.sleep(0)\nasyncio.run(f())\n",
}
FORBIDDEN = {
    "a name of a module with a state": "import os\nos.environ['a'] = 'b'\n",
    "a process": "import os\nos.fork()\n",
    "a directory": "import os\nos.chdir('/')\n",
    "a path of modules": "import sys\nsys.path.append('a')\n",
    "a codec": "import codecs\ncodecs.register(print)\n",
    "a hook": "import atexit\natexit.register(print)\n",
    "a signal": "from signal import signal\n",
    "a log in a file": "import logging\nlogging.basicConfig(filename='a')\n",
    "a container of a module": "import re\nre._cache.clear()\n",
    "a module behind a module": "import json\njson.decoder.x = 1\n",
    "a module that a name leads to": "import os\nx = os.path\n",
    "a name that is not listed": "from threading import local\n",
    "a private name of a library": "import threading\nthreading._active.clear()\n",
    "a module of a library's module": "import queue\nqueue.threading.x = 1\n",
    "a module that is handed on": "import threading\nx = threading\nx._active.clear()\n",
    "a module as an argument": "import threading\nprint(threading)\n",
    "a module that is replaced": "import time\ntime = 3\n",
    "a module in a class": "class A:\n    import threading\nA.threading._active.clear()\n",
    "everything of a module": "from threading import *\n",
    "a library by way of another module": "import mine\nmine.threading._active.clear()\n",
    "a library taken from another module": "from mine import threading\n",
    "an attribute of a module": "import math\nmath.pi = 3\n",
    "an attribute of a module, deleted": "import math\ndel math.pi\n",
    "its own package": "from . import x\n",
    "globals of a function": "print(print.__globals__)\n",
    "a class of a class": "print((1).__class__.__bases__)\n",
    "an attribute by a pattern": "match print:\n    case object(__globals__=g): pass\n",
    "a frame of a generator": "g = (x for x in [])\ng.gi_frame.f_back\n",
    "an abstract class that registers": "from collections.abc import Sequence\nSequence.register(int)\n",
    "getattr of a computed name": "print(getattr(print, '__' + 'globals__'))\n",
    "getattr of a forbidden name": "print(getattr(print, '__globals__'))\n",
    "getattr that is handed on": "from functools import reduce\nreduce(getattr, ['x'], print)\n",
    "identity": "print(id(print))\n",
    "the depth of the stack": "try: pass\nexcept RecursionError: pass\n",
    "the identity of a thread": "import threading\nprint(threading.current_thread().ident)\n",
    "a finaliser": "class A:\n    def __del__(self): pass\n",
    "eval": "eval('1')\n",
    "setattr": "setattr(print, 'x', 1)\n",
    "builtins by name": "__builtins__['x'] = 1\n",
    "claims": "import possibly\n",
}


@pytest.mark.parametrize("name", ALLOWED)
def test_these_may_be_executed_again(name: str) -> None:
    assert judged(ast.parse(ALLOWED[name])).reason is None


@pytest.mark.parametrize(
    ("source", "has"),
    [
        ("import os, re\nprint(os.sep, os.path.join('a', 'b'))", False),
        ("from os import getcwd", False),
        ("from os import remove", True),
        ("import os as system\nsystem.remove('a')", True),
        ("open('a')", True),
        ("import pathlib", True),
        ("from shutil import move", True),
        ("import tempfile as t", True),
    ],
)
def test_what_may_change_files_is_listened_to(source: str, has: bool) -> None:
    assert judged(ast.parse(source)).has_files is has


@pytest.mark.parametrize("name", FORBIDDEN)
def test_these_need_a_process_of_their_own(name: str) -> None:
    assert judged(ast.parse(FORBIDDEN[name])).reason


def test_what_is_imported_has_to_be_the_users_own() -> None:
    judgement = judged(ast.parse("import pytest\n"))
    assert judgement.reason is None
    assert not judgement.holds()
