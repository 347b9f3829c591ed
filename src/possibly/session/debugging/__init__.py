"""The temporal debugger, and walks through a system.

- `live`: the temporal debugger on a live program
- `macro`: macro-steps under the temporal debugger
- `temporal`: the temporal debugger as every view runs it
- `walking`: A walk through a system, forward and back
"""
