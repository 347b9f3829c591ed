"""Macro-steps: message-passing programs executed from one collective breakpoint to the next.

model.py      operations, messages, choices, states of processes: plain data
matching.py   which operations complete, and which receives have a choice
loops.py      whether an event loop can do what a path says
choices.py    what there is to choose, and which choices touch each other
touches.py    files that processes share
claims.py     what the atoms of a claim mean at a collective breakpoint
history.py    a path as a partial order: when a process can be seen, and what comes before what
cuts.py       a claim judged on all cuts of a path, one by one
answers.py    what predicates of the program said, by what they read
path_trace.py a path as a trace, for the engines
remembered.py what was executed, told from memory where it comes again
run.py        one execution along given choices, with the claims judged after every macro-step
tree.py       the tree of collective breakpoints, saved and loaded
equal.py      breakpoints that are equal join
explore.py    which branch comes next: depth first, breadth first, at random, towards a formula
turns.py      several executions at a time
why.py        why a claim is false on a path: the atoms, and the two messages whose order decides
program/      the program as processes of the operating system that report over a socket
inside/       what runs inside those processes
"""
