"""`asyncio`.

- `callbacks`: `asyncio`: functions that a loop calls outside of its tasks, each a process of its own
- `events`: `asyncio`: event loops, and what reaches a loop from outside of its tasks
- `limits`: `asyncio`: which tasks wait within a limit of time, so that they are called off when it is over
- `streams`: `asyncio` streams
- `task_locks`: `asyncio`: Lock, Semaphore, Event, Condition, Barrier, Queue and its kin
- `tasks`: `asyncio`: tasks as processes, and futures
"""
