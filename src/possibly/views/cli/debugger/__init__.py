"""`possibly debug`: its commands and its terminal.

- `commands`: the commands of the temporal debugger
- `debug`: `possibly debug MODEL|TRACE|PROGRAM`
- `macro`: commands of the temporal debugger for macro-steps
- `pictures`: the commands of the temporal debugger that draw
- `terminal`: where the lines of a debugging session come from
"""
