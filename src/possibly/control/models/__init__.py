"""Models of what blocks, of time and of what comes from outside: each in place of the real thing.

- `caches`: `functools.lru_cache` and `cache` as a model
- `conditions`: `threading`'s Condition, Event and Barrier as models (see `primitives` for their law)
- `dates`: `datetime`: now and today are those of the virtual clock
- `earlier`: primitives that were made before there were models
- `exits`: functions that the program wants called at its end (`atexit`)
- `files`: files: one that tasks write, or write and read, is a thing like a variable
- `futures`: `concurrent.futures.Future`
- `inputs`: what a program takes from outside
- `levels`: what loggers remember of levels
- `lines`: a line of a log is one step, where the standard library alone makes it
- `locks`: `threading`'s Lock and RLock as models, and what all models of primitives have in common
- `looks`: what is modelled, looked at from inside by the program
- `moments`: one clock for all
- `pools`: `ThreadPoolExecutor`
- `primitives`: `threading`'s Lock, RLock, Condition, Semaphore, BoundedSemaphore, Event and Barrier as
  models
- `queues`: `queue`: Queue, LifoQueue, PriorityQueue and SimpleQueue, each operation one step
- `threads`: `threading.Thread` and what is made of it (Timer, pools, subclasses)
- `told`: methods of what is modelled that look at a part of it, or change one
- `loops/`
"""
