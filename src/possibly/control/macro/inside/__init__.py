"""What runs inside the processes of a program that is executed macro-step by macro-step.

start.py      runs the program, with communication replaced by what asks the controller
gate.py       the way to the controller: operations, breakpoints directly after them, claims
variables.py  the variables of a process as they are at a breakpoint
names.py      what the program calls its queues
files.py      the files that the program is made from
state.py      the state of the whole system as predicates of the program see it
mpi.py, threads.py, queues.py, tasks.py, processes.py, pipes.py   the operations, one kind a file
turns.py      what the pieces of an event loop's tasks come after
outside.py    what goes on between processes that no message shows: named, not controlled
primitives.py locks and the like, which are no messages: noted, not controlled

- `clocks`: how far each thread knows what the others did
- `sharing`: memory that threads share
- `ready/`: interpreters that are ready before an execution begins
- `watching`: the listener of instrumented code that only watches
- `content`: all that the interpreter holds, as a digest
- `elsewhere`: whether a file may keep something where nobody looks for it
"""
