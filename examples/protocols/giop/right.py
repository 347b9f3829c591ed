"""Requests through an object request broker to servers that may move (after GIOP, the protocol between
brokers).

    python right.py [USERS REQUESTS]

A user hands its request to the broker, which sends it through the agent to the server that has the
object. The object moves between two servers; a server that has it no longer says so, and the agent sends
the request on to the other.
"""

import sys
import threading
from queue import Queue


def user(me: int, requests: int, broker: Queue, inbox: Queue) -> None:
    requested = False
    replied = False
    sent = 0
    for _ in range(requests):
        replied = False
        sent += 1
        requested = True
        broker.put(("request", me))
        inbox.get()
        requested = False
        replied = True
    broker.put(("done", me))
    assert replied or not sent or not requested


def keep_broker(users: list[Queue], agent: Queue, inbox: Queue, fault: str) -> None:
    left = len(users)
    while left:
        what, who = inbox.get()
        if what == "request":
            agent.put(("request", who))
            if fault == "at once":  # the other fault: it answers before the request was performed
                users[who].put("reply")
        elif what == "reply":
            if fault != "at once":
                users[who].put("reply")
        else:
            left -= 1
    agent.put(("stop", -1))


def keep_agent(broker: Queue, servers: list[Queue], inbox: Queue, fault: str) -> None:
    SRequestSent = False
    SReplyReceived = True
    home, served = 0, 0
    pending: list[int] = []
    while True:
        what, who = pending.pop(0) if pending else inbox.get()
        if what == "stop":
            break
        SReplyReceived = False
        SRequestSent = True
        servers[home].put(("request", who))
        if (
            fault == "twice" and not served % 3
        ):  # the fault: it asks the other server as well, to be on the safe side
            servers[1 - home].put(("as if at home", who))
        while True:
            answer, asked = inbox.get()
            if answer == "moved":
                home = 1 - home
                servers[home].put(("request", asked))
            elif answer == "reply":
                break
            else:
                pending.append((answer, asked))
        SRequestSent = False
        SReplyReceived = True
        served += 1
        broker.put(("reply", who))
    for server in servers:
        server.put(("stop", -1))
    assert SReplyReceived or SRequestSent


def server(me: int, users: int, other: Queue, agent: Queue, inbox: Queue, ready: Queue) -> None:
    processed = [0] * users
    ready.put(me)
    at_home, served = me == 0, 0
    while True:
        what, who = inbox.get()
        if what == "stop":
            return
        if what == "move":
            at_home, served = True, 0
        elif what == "request" and not at_home:
            agent.put(("moved", who))
        else:
            processed = [*processed[:who], processed[who] + 1, *processed[who + 1 :]]
            served += 1
            if what == "request":
                agent.put(("reply", who))
            if served % 2 == 0 and at_home:
                at_home = False
                other.put(("move", -1))


def main(count: int, requests: int, fault: str = "") -> None:
    users: list[Queue] = [Queue() for _ in range(count)]
    servers: list[Queue] = [Queue(), Queue()]
    broker: Queue = Queue()
    agent: Queue = Queue()
    ready: Queue = Queue()
    threads = [
        threading.Thread(target=keep_broker, args=(users, agent, broker, fault), name="Broker"),
        threading.Thread(target=keep_agent, args=(broker, servers, agent, fault), name="Agent"),
        *(
            threading.Thread(
                target=server,
                args=(me, count, servers[1 - me], agent, servers[me], ready),
                name=f"Server{me}",
            )
            for me in range(2)
        ),
    ]
    for thread in threads:
        thread.start()
    for _ in servers:
        ready.get()
    clients = [
        threading.Thread(target=user, args=(me, requests, broker, users[me]), name=f"User{me}")
        for me in range(count)
    ]
    for thread in clients:
        thread.start()
    for thread in [*threads, *clients]:
        thread.join()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or (2, 2)))
