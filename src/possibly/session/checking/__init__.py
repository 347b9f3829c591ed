"""Questions about a recorded run.

- `check`: checking a specification on a trace
- `deadlocks`: deadlocks that another order of a recorded run reaches
- `diff`: two runs compared
- `effect/`: whether and where a property that holds takes effect
- `keyed`: checking `forall key`
- `many`: the same question about many files
- `loops`: answers that also count orders which go on for ever
- `modular`: task formulas judged module by module
- `path_forms`: what a path expression compiles to, as data
- `paths`: checking `expect`, `never` and `watch`
- `predictive`: `--order predictive`
- `races`: races of a recorded run and of its other orders
- `selected`: properties checked on as much of a Parquet file as they name
- `slicing`: slicing a trace for a predicate
- `starving`: rules that look for a lack of progress, asked of other orders
- `suggest`: properties of a run, mined from the patterns
- `tasks`: checking a property of the task logic
- `unrecorded`: what a property asks that its trace cannot answer, because it was not recorded or was cut
  off
- `coverage`: what a set of runs has shown
- `cuts`: the cuts of a run with what marks and slices them
"""
