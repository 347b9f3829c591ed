"""State action nets.

- `calls`: locals of calls
- `net`: state action nets
- `values`: which values a shared variable can have in a local state, where nothing but synchronisation
  orders writes
"""
