"""What a thing says of itself, where its class would answer every question."""

from __future__ import annotations

from functools import partial
from typing import Any

from possibly.probes.stated import plain_function, stated, stated_text


class Answers:
    """Has whatever it is asked for, as proxies do."""

    def __getattr__(self, name: str) -> Answers:
        return self

    def __call__(self) -> None:
        pass

    def method(self) -> None:
        pass


def function(*given: int) -> None:
    pass


def test_only_what_is_there_is_told() -> None:
    proxy: Any = Answers()
    assert stated(proxy, "__code__") is None and stated_text(proxy, "__name__") == ""
    assert stated_text(proxy.method, "__name__") == "method" and stated(proxy.method, "__self__") is proxy
    assert stated_text(Answers, "__qualname__") == "Answers" and stated_text(len, "__module__") == "builtins"


def test_what_a_function_is_wrapped_in_is_taken_off() -> None:
    proxy: Any = Answers()
    assert plain_function(proxy) is proxy
    assert plain_function(partial(partial(function, 1), 2)) is function
    assert plain_function(partial(proxy.method)) is Answers.method
