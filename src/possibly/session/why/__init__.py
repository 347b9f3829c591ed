"""A failure that was found is made simple and explained: `simplest` and the patterns that have a remedy.

- `case`: what is known of a failure, and what a remedy is
- `remedies`: what would cure a failure, where its pattern is one of the known ones
- `stuck`: the same where nobody can go on
- `sources`: what stands around a line of the user's source
- `asked`: the steps of an execution that change what its property reads
- `orders`: whether an execution that violates a property by its own order of steps would not in another
  order of them
"""
