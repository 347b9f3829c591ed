"""Two-phase commit of three processes over sockets: whoever has promised waits for the decision."""

import os
import socket

COMMIT, ABORT, PREPARED = 0, 1, 2
PATIENCE = 5.0
IN_DOUBT = PREPARED  # a promise binds: the coordinator is asked again when it can be reached


def participant(line):
    """How it ends, having promised to do what is decided."""
    try:
        line.sendall(b"yes")
        line.settimeout(PATIENCE)
        decision = line.recv(16)
    except OSError:
        decision = b""
    return {b"commit": COMMIT, b"abort": ABORT}.get(decision, IN_DOUBT)


def has_promised(line):
    line.settimeout(PATIENCE)
    try:
        return line.recv(16) == b"yes"
    except OSError:
        return False


def coordinate(lines):
    decision = b"commit" if all(map(has_promised, lines)) else b"abort"
    for line in lines:
        try:
            line.sendall(decision)
        except OSError:
            pass  # it has gone
    return COMMIT if decision == b"commit" else ABORT


def started():
    """A line to a new participant, and the number of its process."""
    mine, other = socket.socketpair()
    process = os.fork()
    if not process:
        mine.close()
        os._exit(participant(other))
    other.close()
    return mine, process


if __name__ == "__main__":
    lines, processes = zip(*(started() for _ in range(2)), strict=True)
    found = {coordinate(lines)}
    for each in processes:
        found.add(os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]))
    assert not {COMMIT, ABORT} <= found, "some have committed, others have not"
