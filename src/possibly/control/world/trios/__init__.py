"""`trio` under control.

- `guests`: runs that another loop drives
- `runs`: its scheduler
- `things`: what its turns touch
"""
