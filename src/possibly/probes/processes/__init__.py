"""Processes of the operating system, and what lies between them.

- `cells`: numbers that all processes of a run share
- `locks`: `multiprocessing`
- `pipes`: `multiprocessing`
- `programs`: `subprocess`: a Python program that a recorded program starts is recorded too
- `start`: `multiprocessing.Process`, by fork and by spawn
"""
