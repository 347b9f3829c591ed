"""An election of three processes over sockets, as in Raft: a vote each and term, and two elect a leader."""

import os
import socket

FOLLOWER, LEADER = 0, 1
PATIENCE = 5.0
TAKES_BACK = True  # wrong: what was promised may have arrived


def candidate(line):
    """How it ends: it has voted for itself, and asks for the one vote that is missing."""
    line.settimeout(PATIENCE)
    try:
        line.sendall(b"vote")
        if line.recv(16) != b"yes":
            return FOLLOWER
        line.sendall(b"thanks")
    except OSError:
        return FOLLOWER
    return LEADER


def vote(lines):
    """Gives its vote to the first who asks, and keeps to that for the whole term."""
    has_voted = False
    for line in lines:
        line.settimeout(PATIENCE)
        try:
            if line.recv(16) != b"vote":
                continue
            line.sendall(b"no" if has_voted else b"yes")
            if not has_voted:
                has_voted = True
                line.recv(16)
        except OSError:
            if TAKES_BACK:
                has_voted = False


def started():
    """A line to a new candidate, and the number of its process."""
    mine, other = socket.socketpair()
    process = os.fork()
    if not process:
        mine.close()
        os._exit(candidate(other))
    other.close()
    return mine, process


if __name__ == "__main__":
    lines, processes = zip(*(started() for _ in range(2)), strict=True)
    vote(lines)
    found = [os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in processes]
    assert found.count(LEADER) < 2, "two leaders in one term"
