"""A run that is watched while it goes on.

- `asked`: a recorded program whose processes wait until a monitor has heard of their events
- `intake`: lines from several connections at once
- `kept_lines`: the lines of a watched run, kept for its end
- `listening`: the sockets of the on-line monitor
- `paths_live`: path expressions along with a program that runs
- `sending`: the other end of the monitor
- `spans`: spans of OpenTelemetry that arrive while services run
- `watch`: A run that is watched while it goes on
- `streams/`
"""
