"""A process that hangs now, looked at from inside.

- `attach`: A process that hangs now
- `attached_script`: what `possibly attach` runs inside another process
"""
