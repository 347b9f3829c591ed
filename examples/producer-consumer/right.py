"""The producer-consumer program of figure 5-1 (data path expressions), with both P(s)."""

import threading

queue = []
s = threading.Semaphore(1)
deposited = threading.Semaphore(0)


def enqueue(item):
    queue.append(item)


def dequeue():
    return queue.pop(0)


def producer():
    for item in range(2):
        s.acquire()
        enqueue(item)
        s.release()
        deposited.release()


def consumer():
    for _ in range(2):
        deposited.acquire()
        s.acquire()
        item = dequeue()
        s.release()
        print(item)


if __name__ == "__main__":
    threads = [threading.Thread(target=work, name=work.__name__) for work in (producer, consumer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
