"""Whether and where a property that holds takes effect.

- `examples`: an order in which its left side happens and its right side follows
- `vacuity`: properties that hold because what they speak of never happens
"""
