"""Packages that bring tasks, threads and channels of their own, one package a file.

- `anyio`: `anyio` on `asyncio`
- `jobs`: functions that a library calls in threads which it keeps
- `locks`: locks and their kin of `trio` and `anyio`
- `trio`: `trio`: its tasks as processes, what one task wakes another by, nurseries, and calls to and from
  threads
"""
