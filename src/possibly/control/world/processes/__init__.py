"""Processes that the program starts, under the one scheduler.

- `channel`: how a process asks the first one, which has the scheduler and all that processes share
- `shared`: what processes share: objects in the first process, used from everywhere
- `sync`: locks, semaphores, events, conditions, barriers
- `queues`: queues and pipes
- `values`: values, arrays, blocks of shared memory
- `popen`: how a process begins, goes on and ends; `life`: as it sees that; `anew`: one that is spawned
- `nested`: one that a started process starts
- `holding`: which process has what
- `lent`: sockets of processes
- `pooling`: pools of processes
- `forks`: `os.fork` and what goes with it; `pipes`: those of the system; `ways_in` leads to both
- `programs`: `subprocess` of Python programs; `awaited`: as event loops have them
- `files`: files that processes use; `file_locks`: their locks
- `install`: what takes the place of what
"""
