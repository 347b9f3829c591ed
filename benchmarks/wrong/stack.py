"""A stack without a lock, by compare and set; nodes are used again, so that equal does not mean unchanged."""

import threading


class Cell:
    """What hardware offers: one step that compares and sets."""

    def __init__(self, value):
        self.value = value
        self.lock = threading.Lock()

    def load(self):
        with self.lock:
            return self.value

    def compare_and_set(self, expected, value):
        with self.lock:
            if self.value is not expected:
                return False
            self.value = value
            return True


class Node:
    def __init__(self, item):
        self.item = item
        self.next = None


class Stack:
    def __init__(self, nodes):
        self.top = Cell(None)
        for node in reversed(nodes):
            self.push(node)

    def push(self, node):
        while True:
            top = self.top.load()
            node.next = top
            if self.top.compare_and_set(top, node):
                return

    def pop(self):
        while (top := self.top.load()) is not None:
            following = top.next
            if self.top.compare_and_set(top, following):
                return top
        return None

    def items(self):
        node = self.top.load()
        found = []
        while node is not None:
            found.append(node.item)
            node = node.next
        return found


stack = Stack([Node("a"), Node("b"), Node("c")])
taken = []


def slow():
    taken.append(stack.pop())


def quick():
    one = stack.pop()
    two = stack.pop()
    stack.push(one)
    taken.append(two)


threads = [threading.Thread(target=slow), threading.Thread(target=quick)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
left = stack.items() + [node.item for node in taken if node is not None]
assert sorted(left) == ["a", "b", "c"], left
