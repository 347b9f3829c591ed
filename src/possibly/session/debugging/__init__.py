"""The temporal debugger, and walks through a system.

- `classes`: all orders of one execution as a system to step through
- `live`: the temporal debugger on a live program
- `macro`: macro-steps under the temporal debugger
- `temporal`: the temporal debugger as every view runs it
- `walking`: A walk through a system, forward and back
"""
