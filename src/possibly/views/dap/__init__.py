"""The debug adapter: an editor steps through recorded runs, schedules, models and live programs.

protocol.py    messages of the Debug Adapter Protocol, framed by their length
adapter.py     the requests, a method each, over a `Walk`
stops.py       breakpoints: lines, conditions, formulas, failures
shown.py       threads, stacks, variables and values as the protocol writes them
serve.py       standard input and output, or one client of a socket
"""
