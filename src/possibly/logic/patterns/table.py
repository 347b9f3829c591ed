"""The patterns: what each is called, says, looks like, and stands for.

Absence to chains are the property specification patterns (Dwyer, Avrunin, Corbett, *Patterns in Property
Specifications for Finite-State Verification*, 1999), with their five scopes. We read them over finite runs,
write weak until for "until, or to the end", begin a scope where `q & !r`, take `after q` from the first q,
and let a chain end inside its scope. In a template p, s, t are the arguments and q, r the ends of the scope.
The others are about processes and messages. The parameter `each` is about a group of processes and names it
by a quoted pattern: `inside("worker*", update)`.
"""

from __future__ import annotations

from possibly.records import dataclass

SCOPES = ("globally", "before", "after", "between", "until")
"""`before r`, `after q`, `between q and r`, `after q until r`."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One ready specification."""

    name: str
    parameters: tuple[str, ...]
    sentence: str
    picture: str
    """A run, a character a state: what the pattern allows."""
    language: str
    templates: tuple[str, ...]
    """The formula for each scope, in the order of SCOPES; only the first where it has no scopes."""
    example: str

    @property
    def has_scopes(self) -> bool:
        return len(self.templates) > 1

    @property
    def is_of_a_group(self) -> bool:
        """Its template speaks of several processes of a group by itself."""
        return "{group}" in self.templates[0]


def _scoped(globally: str, before: str, after: str, between: str, until: str) -> tuple[str, ...]:
    return globally, before, after, between, until


_CHAIN = "({s}) & !({r}) & X(!({r}) U (({t}) & !({r})))"
_ANSWER = "(({p}) -> (!({r}) U (({s}) & !({r}))))"
_FIRST = "(({s}) & !({p}) & X(!({p}) U ({t})))"
_OPEN = "({q}) & !({r})"

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "absence", ("p",), "p is never true", "· · · · ·", "ltl",
        _scoped("G(!({p}))", "F({r}) -> (!({p}) U ({r}))", "G(({q}) -> G(!({p})))",
                f"G(({_OPEN} & F({{r}})) -> (!({{p}}) U ({{r}})))", f"G(({_OPEN}) -> (!({{p}}) W ({{r}})))"),
        "absence(P1.balance < 0)",
    ),
    Pattern(
        "universality", ("p",), "p is always true", "p p p p p", "ltl",
        _scoped("G({p})", "F({r}) -> (({p}) U ({r}))", "G(({q}) -> G({p}))",
                f"G(({_OPEN} & F({{r}})) -> (({{p}}) U ({{r}})))", f"G(({_OPEN}) -> (({{p}}) W ({{r}})))"),
        "universality(total == 200)",
    ),
    Pattern(
        "existence", ("p",), "p becomes true", "· · p · ·", "ltl",
        _scoped("F({p})", "!({r}) W (({p}) & !({r}))", "!({q}) W (({q}) & F({p}))",
                f"G(({_OPEN} & F({{r}})) -> (!({{r}}) U (({{p}}) & !({{r}}))))",
                f"G(({_OPEN}) -> (!({{r}}) U (({{p}}) & !({{r}}))))"),
        "existence(done(P1))",
    ),
    Pattern(
        "bounded_existence", ("p", "n"), "p becomes true at most n times", "· p · p ·", "ltl",
        ("{times}",), "bounded_existence(P1.retrying, 2)",
    ),
    Pattern(
        "response", ("p", "s"), "whenever p is true, s is true then or later", "· p · s ·", "ltl",
        _scoped("G(({p}) -> F({s}))", f"F({{r}}) -> ({_ANSWER} U ({{r}}))", "G(({q}) -> G(({p}) -> F({s})))",
                f"G(({_OPEN} & F({{r}})) -> ({_ANSWER} U ({{r}})))",
                f"G(({_OPEN}) -> ({_ANSWER} W ({{r}})))"),
        "response(P1.request, P2.reply)",
    ),
    Pattern(
        "precedence", ("s", "p"), "before p is true, s has been", "· s · p ·", "ltl",
        _scoped("!({p}) W ({s})", "F({r}) -> (!({p}) U (({s}) | ({r})))",
                "!({q}) W (({q}) & (!({p}) W ({s})))",
                f"G(({_OPEN} & F({{r}})) -> (!({{p}}) U (({{s}}) | ({{r}}))))",
                f"G(({_OPEN}) -> (!({{p}}) W (({{s}}) | ({{r}}))))"),
        "precedence(P1.locked, P1.writes)",
    ),
    Pattern(
        "response_chain", ("p", "s", "t"), "p is followed by s, and that by t", "p · s · t", "ltl",
        _scoped("G(({p}) -> F(({s}) & X F({t})))",
                f"F({{r}}) -> ((({{p}}) -> (!({{r}}) U ({_CHAIN}))) U ({{r}}))",
                "G(({q}) -> G(({p}) -> F(({s}) & X F({t}))))",
                f"G(({_OPEN} & F({{r}})) -> ((({{p}}) -> (!({{r}}) U ({_CHAIN}))) U ({{r}})))",
                f"G(({_OPEN}) -> ((({{p}}) -> (!({{r}}) U ({_CHAIN}))) W ({{r}})))"),
        "response_chain(P1.order, P2.packed, P3.sent)",
    ),
    Pattern(
        "precedence_chain", ("s", "t", "p"), "before p there is s, and t after that", "s · t · p", "ltl",
        _scoped(f"F({{p}}) -> (!({{p}}) U {_FIRST})", f"F({{r}}) -> (!({{p}}) U (({{r}}) | {_FIRST}))",
                f"!({{q}}) W (({{q}}) & (F({{p}}) -> (!({{p}}) U {_FIRST})))",
                f"G(({_OPEN} & F({{r}})) -> (!({{p}}) U (({{r}}) | {_FIRST})))",
                f"G(({_OPEN}) -> (F({{p}}) -> (!({{p}}) U (({{r}}) | {_FIRST}))))"),
        "precedence_chain(P1.ordered, P1.paid, P1.sent)",
    ),
    Pattern(
        "exactly_once", ("p",), "p becomes true once, and not again", "· · p · ·", "ltl",
        ("F({p}) & {once}",), "exactly_once(P2.delivered)",
    ),
    Pattern(
        "at_most_once", ("p",), "p does not become true a second time", "· · p · ·", "ltl",
        ("{once}",), "at_most_once(P2.delivered)",
    ),
    Pattern(
        "mutex", ("each",), "it is true of no two processes of the group at once", "1 · 2 · 1", "ctl",
        ("forall {i}, {j} in {group} if {i} != {j}: AG(!(({first}) & ({second})))",),
        'mutex(inside("worker*", update))',
    ),
    Pattern(
        "at_most", ("n", "each"), "it is true of at most n processes of the group at once", "1 12 2 ·", "ctl",
        ("{at_most}",), 'at_most(2, inside("worker*", download))',
    ),
    Pattern(
        "leadership", ("each",), "some process of the group leads, and never two at once", "· 1 1 · 2", "ltl",
        ("(forall {i}, {j} in {group} if {i} != {j}: G(!(({first}) & ({second})))) & "
         "F(exists {i} in {group}: {first})",),
        'leadership("node*".leads)',
    ),
    Pattern(
        "lock_order", ("first", "second"), "the first lock is not taken while the second is held",
        "1 12 2 ·", "ltl", ("G(!(!({first}) & ({second}) & X(({first}) & ({second}))))",),
        'lock_order("worker*".holds_a, "worker*".holds_b)',
    ),
    Pattern(
        "request_reply", ("p", "s"), "every request p is answered by s, and no answer comes unasked",
        "p s · p s", "ltl", ("G(({p}) -> F({s})) & (!({s}) W ({p}))",),
        "request_reply(client.asks, server.answers)",
    ),
    Pattern(
        "no_lost_message", (), "at the end every message that was sent has been received", "> · · > >", "ltl",
        ("G(X true | transit() == 0)",), "no_lost_message()",
    ),
    Pattern(
        "in_flight", ("n",), "at most n messages are on their way at once", "> > · > ·", "ctl",
        ("AG(transit() <= {n})",), "in_flight(10)",
    ),
    Pattern(
        "fifo", ("sent", "received"), "what is received is what was sent, in that order (two lists)",
        "a b a b", "ctl",
        ("AG(len({received}) == 0 | {received}[len({received}) - 1] == {sent}[len({received}) - 1])",),
        "fifo(producer.sent, consumer.received)",
    ),
    Pattern(
        "quiescence", ("p",), "p is true at the end", "· p · · p", "ltl",
        ("G(X true | ({p}))",), "quiescence(transit() == 0 & len(jobs) == 0)",
    ),
)  # fmt: skip
BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


def once(p: str, times: int = 1) -> str:
    """p is true in at most so many stretches of the run."""
    found = f"G(!({p}))"
    for _ in range(times):
        found = f"(!({p}) W (({p}) W {found}))"
    return found
