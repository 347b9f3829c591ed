"""`asyncio` under control.

- `anyio_told`: what tasks do with anyio's own primitives, in the user's words
- `async_primitives`: `asyncio`'s Lock, Semaphore, Event, Condition and Queue
- `coroutines`: the tasks and futures of `asyncio`
- `events`: `asyncio`: the tasks of an event loop, one turn of a task being one step
- `foreign_loops`: `uvloop`: its loops are in C, where no turn is seen; those of asyncio take their place,
  and it is said
- `in_turn`: with `--fifo`: who of an event loop goes on in which order, as the loop itself has it
- `reactors`: those of `twisted`, which are not under control, and what is instead
- `timers`: what comes to an event loop from outside its tasks
- `turns`: what a turn of an event loop's task tells of itself
"""
