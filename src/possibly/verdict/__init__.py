"""Answers as data, the only words that engines and views share.

- `answer`: of a search through the executions of a program
- `coverage`: how much of what a program can do was seen
- `deadlocks`: a deadlock that another order of a run reaches
- `explain`: why a property is violated on a trace
- `histories`: what a history of operations shows
- `model`: the answer to a property on a trace, with its witness
- `paths`: what a path expression found
- `reasons`: why an answer is open, and what helps
- `tasks`: why a formula of the task logic is violated
- `transactions`: what orders transactions
- `waiting`: how a task waits, in words
"""
