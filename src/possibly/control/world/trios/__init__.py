"""`trio` under control.

- `guests`: runs that another loop drives
- `known`: what is known of its runs
- `runs`: its scheduler
- `waits`: tasks that wait for an open file
- `things`: what its turns touch
"""
