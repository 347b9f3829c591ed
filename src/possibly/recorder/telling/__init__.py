"""The sites of what is watched, for one log.

- `calls`: sites of functions that begin and end
- `containers`: sites of containers that change in place
- `site`: one place of the program's that tells of something
- `sites`: who makes them
- `values`: sites of variables, attributes and items
"""
