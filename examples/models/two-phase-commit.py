"""Two-phase commit: a coordinator and two participants, each of which may vote no."""

# ruff: noqa: N802
from possibly.models.words import channel, choose, process, receive, send

N = 2
votes = channel(N)
orders = [channel(1) for _ in range(N)]
decision = "none"
done = ["none"] * N


@process
def Coordinator():
    global decision
    agreed = True
    for _ in range(N):
        vote = receive(votes)  #: collect
        agreed = agreed and vote  #: count
    if agreed:
        decision = "commit"  #: commit
    else:
        decision = "abort"  #: abort
    for i in range(N):
        send(orders[i], decision)  #: order


@process(N)
def Participant(i):
    vote = choose(True, False)  #: vote
    send(votes, vote)  #: send
    order = receive(orders[i])  #: obey
    done[i] = order  #: done
