"""How an execution ends that does not end well.

- `cycles`: executions that go round for ever
- `deadlock`: nobody can go on
- `failures`: what goes wrong in a task
- `labels`: primitives called by their variables
- `own`: errors of possibly itself that come out in the program
"""
