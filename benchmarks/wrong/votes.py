"""Two phases of a commit: the coordinator counts votes that belong to the transaction before."""

import queue
import threading

PARTICIPANTS, ROUNDS = 3, 2
inboxes = [queue.Queue() for _ in range(PARTICIPANTS)]
votes = queue.Queue()
decisions = {}
applied = {number: [] for number in range(PARTICIPANTS)}


def participant(number):
    while (message := inboxes[number].get()) is not None:
        kind, transaction = message
        if kind == "prepare":
            votes.put((number, transaction, (number + transaction) % 3 != 1))
        else:
            applied[number].append((transaction, kind))


def coordinator():
    for transaction in range(ROUNDS):
        for inbox in inboxes:
            inbox.put(("prepare", transaction))
        outcome = "commit"
        for _ in range(PARTICIPANTS):
            _, _, is_yes = votes.get()
            if not is_yes:
                outcome = "abort"
                break
        decisions[transaction] = outcome
        for inbox in inboxes:
            inbox.put((outcome, transaction))
    for inbox in inboxes:
        inbox.put(None)


threads = [threading.Thread(target=participant, args=(number,)) for number in range(PARTICIPANTS)]
threads.append(threading.Thread(target=coordinator))
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
expected = {
    transaction: "abort" if any((n + transaction) % 3 == 1 for n in range(PARTICIPANTS)) else "commit"
    for transaction in range(ROUNDS)
}
assert decisions == expected, decisions
assert votes.empty(), "votes were left over"
