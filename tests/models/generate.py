"""Random model files: assignments, tests, loops, waits, atomic blocks, arrays and helper functions."""

from __future__ import annotations

from random import Random

SCALARS = ("x", "y", "z")
SIZE = 3


class Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.in_helper = False

    def expression(self, depth: int = 2) -> str:
        random = self.random
        if depth == 0:
            return random.choice([*SCALARS, "a[0]", "a[x % 3]", "0", "1", "2", "LIMIT"])
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        operator = random.choice(["+", "-", "*", "%", "//", "==", "<", "and", "or"])
        if operator in ("+", "-", "*"):
            return f"(({left}) {operator} ({right})) % 4"
        return f"({left}) {operator} ({right})"

    def target(self) -> str:
        return self.random.choice([*SCALARS, "a[1]", "a[y % 3]"])

    def block(self, indent: int, depth: int, atomic: bool = False) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(indent, depth, atomic)

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def statement(self, indent: int, depth: int, atomic: bool) -> None:
        kinds = ["assign", "assign", "augment", "swap"]
        if depth:
            kinds += ["if", "while", "for"]
        if not atomic:
            kinds += ["wait", "pass"]
            kinds += ["atomic"] if depth else []
            kinds += ["call", "result"] if not self.in_helper else []
        getattr(self, self.random.choice(kinds) + "_")(indent, depth, atomic)

    def assign_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"{self.target()} = {self.expression()}")

    def augment_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"{self.random.choice(SCALARS)} ^= 1".replace("^=", "-=" if depth else "+="))
        self.put(indent, f"{self.random.choice(SCALARS)} %= 4")

    def swap_(self, indent: int, depth: int, atomic: bool) -> None:
        first, second = self.random.sample(SCALARS, 2)
        self.put(indent, f"{first}, {second} = {second}, {first}")

    def pass_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, "pass")

    def wait_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"wait({self.expression(1)})")

    def if_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"if {self.random.choice(SCALARS)} != ({self.expression(1)}):")
        self.block(indent + 1, depth - 1, atomic)
        if self.random.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, depth - 1, atomic)

    def while_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"while {self.random.choice(SCALARS)} != {self.random.randint(0, 2)}:")
        self.block(indent + 1, depth - 1, atomic)
        self.put(indent + 1, "break" if atomic or self.random.random() < 0.5 else "continue")

    def for_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"for i{depth} in range({self.random.randint(0, 3)}):")
        self.block(indent + 1, depth - 1, atomic)

    def atomic_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, "with atomic:")
        self.block(indent + 1, depth - 1, True)

    def call_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"change({self.random.randint(0, 2)})")

    def result_(self, indent: int, depth: int, atomic: bool) -> None:
        self.put(indent, f"{self.random.choice(SCALARS)} = compute({self.random.randint(0, 2)})")


def random_model(seed: int) -> str:
    """Two processes over three scalars and an array."""
    writer = Writer(Random(seed))
    declared = f"    global {', '.join(SCALARS)}"
    writer.lines = ["LIMIT = 2", *[f"{name} = 0" for name in SCALARS], f"a = [0] * {SIZE}", ""]
    writer.in_helper = True
    writer.lines += ["def change(k):", declared]
    writer.block(1, 1)
    writer.lines += ["", "def compute(k):", declared]
    writer.block(1, 1)
    writer.lines += ["    return (x + k) % 4", ""]
    writer.in_helper = False
    for name in ("P", "Q"):
        writer.lines += ["@process", f"def {name}():", declared]
        writer.block(1, 2)
        writer.lines.append("")
    return "\n".join(writer.lines)
