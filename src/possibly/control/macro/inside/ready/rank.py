"""`python -I -S rank.py SOCKET WORDS`: what `mpiexec` starts for a rank whose interpreter is ready already.

Law: it hands everything that makes it that rank (its environment, folder, standard streams and the connection
to the process manager) to the template behind the socket, which forks the rank itself; then it waits for the
end of that, and ends alike. It is not imported, and imports nothing that takes time.
"""

from __future__ import annotations

import _socket
import marshal
import posix
import sys


def main() -> None:
    end = _socket.socket(_socket.AF_UNIX)
    end.connect(sys.argv[1])
    manager = posix.environ.get(b"PMI_FD")
    numbers = [0, 1, 2, *([] if manager is None else [int(manager)])]
    told = marshal.dumps((sys.argv[2:], dict(posix.environ), posix.getcwd(), numbers))
    rights = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
    length = len(told).to_bytes(4, "big")
    end.sendmsg([length], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    end.sendall(told)
    status = end.recv(1)
    posix._exit(status[0] if status else 1)


if __name__ == "__main__":
    main()
