"""Pools of `multiprocessing` and its kin, under control.

- `pools`: those of `multiprocessing`, and what executors are made of
- `executors`: `ProcessPoolExecutor`
- `thread_pools`: `multiprocessing.pool.ThreadPool`
- `joblibs`: the processes of `joblib`
"""
