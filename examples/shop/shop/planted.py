"""Which mistake is in the shop: the argument of the program."""

import sys

MISTAKES = ("cache", "cancellation", "limit")
mistake = next((word for word in sys.argv[1:] if word in MISTAKES), None)


def has(name):
    assert name in MISTAKES, name
    return mistake == name
