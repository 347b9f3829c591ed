"""A computation that grows while its lines arrive.

- `batches`: many lines that were taken in one after the other, as columns
- `computation`: A computation that grows by one step at a time, its lines arriving in any order
- `lines`: lines that arrive one by one
"""
