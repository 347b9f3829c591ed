"""Answers while the run goes on, current after every event.

- `compiled`: EF of predicates on one process each, followed in the compiled core
- `final`: which answers about the beginning of a run stay when the run goes on
- `follow`: following one alternative of a predicate
- `monitor`: the verdict on a run that is still going on, current after every event
- `nested`: EF and AG inside EF and AG, on-line
- `parts`: operators that are followed on-line beside EF and EG: next, until, and AF of conjunctions
- `response`: AG(p -> AF q) on-line, p and q predicates on the same process
- `search`: the search for least cuts on a computation that grows
- `slice`: the slice of a regular predicate on a growing computation, current after every event
- `standing`: what a formula is worth on a run so far
- `tasks`: formulas of the task logic about one or two tasks, on-line
- `terms`: state predicates that can be followed on-line, as alternatives of terms on one chain or one
  channel each
- `keyed`: A formula for each value of a key, on-line
"""
