"""Policies, one a file, behind the port of `control.execution`.

- `bounded`: every schedule with at most so many preemptions, those with the fewest first
- `course`: A course: choices to follow, then a free run that keeps clear of what is explored elsewhere
- `dpor`: depth-first search with optimal dynamic partial-order reduction
- `foresight`: what an execution would do, foreseen from others
- `guided`: guided: follows a predicted path, and searches near it
- `pct`: probabilistic concurrency testing
- `random`: A uniform random choice among the enabled tasks at every step
- `replay`: replay: a recorded schedule again, also in a program that was edited elsewhere
- `rotation`: tasks that take turns of the same length in the same order, for ever
- `within`: which steps count where only some modules of the user do
"""
