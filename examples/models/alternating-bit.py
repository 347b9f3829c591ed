"""The alternating bit protocol over channels that lose messages."""

# ruff: noqa: N802
from possibly.models.words import atomic, channel, choose, process, receive, send, wait

data = channel(1)
acknowledgements = channel(1)
delivered = 0
sent = 0


@process
def Sender():
    global sent
    bit = 0
    while True:
        sent = (sent + 1) % 4  #: fetch
        while True:
            arrives = choose(True, False)  #: luck
            if arrives and len(data) == 0:  #: try
                send(data, (bit, sent))  #: send
            with atomic:
                if len(acknowledgements) > 0:  #: listen
                    answer = receive(acknowledgements)  #: acknowledged
                else:
                    answer = -1  #: nothing
            if answer == bit:  #: compare
                break
        bit = 1 - bit  #: flip


@process
def Receiver():
    global delivered
    expected = 0
    while True:
        wait(len(data) > 0)  #: await
        number, item = receive(data)  #: receive
        if number == expected:  #: compare
            assert item == (delivered + 1) % 4  #: check
            delivered = item  #: deliver
            expected = 1 - expected  #: flip
        arrives = choose(True, False)  #: luck
        if arrives and len(acknowledgements) == 0:  #: try
            send(acknowledgements, number)  #: acknowledge
