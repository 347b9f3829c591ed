"""What runs inside the processes of a program that is executed macro-step by macro-step.

start.py      runs the program, with communication replaced by what asks the controller
gate.py       the way to the controller: operations, breakpoints directly after them, claims
seen.py       the variables of a process as they are at a breakpoint
state.py      the state of the whole system as predicates of the program see it
mpi.py, threads.py, queues.py, tasks.py, processes.py, pipes.py   the operations, one kind a file
others.py     what is no message, and is only noted
"""
