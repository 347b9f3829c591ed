"""`asyncio`.

- `callbacks`: `asyncio`: functions that a loop calls outside of its tasks, each a process of its own
- `events`: `asyncio`: event loops, and what reaches a loop from outside of its tasks
- `streams`: `asyncio` streams
- `task_locks`: `asyncio`: Lock, Semaphore, Event, Condition, Barrier, Queue and its kin
- `tasks`: `asyncio`: tasks as processes, and futures
"""
