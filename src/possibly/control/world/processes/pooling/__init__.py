"""Pools of processes, under control.

- `pools`: those of `multiprocessing`, and what executors are made of
- `executors`: `ProcessPoolExecutor`
- `joblibs`: the processes of `joblib`
"""
