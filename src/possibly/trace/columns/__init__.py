"""The columnar form of a trace.

- `form`: the columnar form
- `lanes`: range checks over whole columns at the speed of long arithmetic
- `layout`: what stands where in the columnar form
- `mapped`: reading the columnar form
"""
