"""Logs of all processes become one trace.

- `lines`: the lines of a trace file as they are written by a merge, without a trace in memory
- `merge`: logs to a trace
- `naming`: what processes, objects and variables of a run are called in its trace
- `sources`: reading logs: the definitions and the events of each process of the operating system
- `streaming`: the events of a run that still goes on
- `unasked`: what a trace has of variables that nobody named
- `unseen`: variables that had other values than those that their log tells
"""
