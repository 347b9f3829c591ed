"""What a program may keep where nobody looks is seen in its source, and any doubt counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from possibly.control.macro.inside.elsewhere import is_plain

PLAIN = (
    "import queue, threading\nbox = queue.Queue()\nbox.put(1)",
    "from mpi4py import MPI\ncomm = MPI.COMM_WORLD\nx = comm.recv(source=MPI.ANY_SOURCE)",
    "class Account:\n    def __init__(self):\n        self.balance = 0\nAccount.kind = 1",
    "import sys\ncount = int(sys.argv[1])",
    "import numpy as np\na = np.zeros(3)\na[0] = 1",
    "import threading\nclass Mine(threading.Thread):\n    pass",
    "import queue\ntry:\n    pass\nexcept (queue.Empty, ValueError):\n    raise queue.Full",
    "import queue, typing\ndef f(box: queue.Queue, n: typing.Any = 0) -> list[queue.Queue]:\n    pass",
    "import queue\nbox: queue.Queue = queue.Queue()",
    "import queue\nbox = queue.Queue()\nassert isinstance(box, queue.Queue)",
    "import dataclasses\n@dataclasses.dataclass\nclass Mine:\n    n: int = dataclasses.field(default=0)",
    "import functools, operator\nx = functools.reduce(operator.add, [1, 2])",
    "import sys\nprint('x', file=sys.stderr)\nsys.stdout.write('x')",
    "from collections import defaultdict\nd = defaultdict(list)\nd[1].append(2)",
)
ELSEWHERE = (
    "import string\nstring.mine = 1",
    "import string\nstring.Formatter.mine = 1",
    "import string\ns = string\ns.mine = 1",
    "import string\nkeep(string)",
    "import string\nsetattr(string, 'mine', 1)",
    "import sys\nsys.modules['x'] = 1",
    "import sys\nsys.path[0] = ''",
    "import sys\nsys.setrecursionlimit(99)",
    "import os\nos.umask(1)",
    "import builtins\nbuiltins.mine = 1",
    "from queue import Queue\nQueue.mine = 1",
    "from mpi4py import MPI\nMPI.COMM_WORLD.mine = 1",
    "import random\nx = random.random()",
    "import numpy as np\nnp.random.seed(1)",
    "import numpy as np\nnp.seterr(all='raise')",
    "from functools import lru_cache",
    "import threading\nt = threading.local()",
    "globals()['x'] = 1",
    "import threading\nname = threading.Thread\nname.mine = 1",
    "from threading import Thread\nname = [Thread]\nname[0].mine = 1",
    "import threading\ndef f():\n    return threading.Thread\nf().mine = 1",
    "import queue\nbox = queue.Queue()\ntype(box).mine = 1",
    "import queue\nbox = queue.Queue()\nbox.__class__.mine = 1",
    "import threading\nclass Mine(threading.Thread):\n    pass\nMine.__mro__[1].mine = 1",
    "import textwrap\nname = textwrap.dedent\nname.mine = 1",
    "import sys\nsys.path.append('x')",
    "from sys import path\npath.append('x')",
    "import logging\nlogging.addLevelName(33, 'x')",
    "import threading\nthreading.stack_size(65536)",
    "import queue\nqueue.nothing()",
    "open('x')",
    "def f(",
)


def written(folder: Path, text: str) -> str:
    file = folder / "program.py"
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize("text", PLAIN)
def test_what_lies_in_variables_is_plain(text: str, tmp_path: Path) -> None:
    assert is_plain(written(tmp_path, text))


@pytest.mark.parametrize("text", ELSEWHERE)
def test_what_may_lie_elsewhere_is_not(text: str, tmp_path: Path) -> None:
    assert not is_plain(written(tmp_path, text))
