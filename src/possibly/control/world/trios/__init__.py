"""`trio` under control.

- `runs`: its scheduler
- `things`: what its turns touch
"""
