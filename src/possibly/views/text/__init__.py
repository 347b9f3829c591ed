"""Reports as text: for a person (`report`) and for a program (`json_report`).

- `answers`: what every search through executions says, as text and as JSON
- `deadlocks`: predicted deadlocks as text and as JSON: who holds what, who waits for whom, and the way
  there
- `exploration`: what an exploration found, as text and as JSON: the verdict, the failing schedule in source
  lines
- `histories`: what a history shows, as text and as JSON: a verdict, the shortest bad prefix drawn, what was
  reached
- `json_paths`: the result of a path expression for a program
- `json_tasks`: what a witness of a task formula says beside its way, as keys of the JSON document
- `macro`: the tree of macro-steps as text
- `macro_state`: A collective breakpoint as text and as data
- `paths`: the result of a path expression for a person
- `phrases`: what a task does, by the kind of its step
- `schedule`: A schedule as text
- `source`: the source line at a place such as `bank.py:12`, for quoting beside an event
- `steps`: the steps of an execution in words
- `transactions`: isolation of transactions as text and as JSON: the anomaly, and why each comes before the
  next
- `why`: why an execution fails, in words
- `words`: words for things
"""
