"""A failure that was found is made simple and explained: `simplest` and the patterns that have a remedy.

- `case`: what is known of a failure, and what a remedy is
- `remedies`: what would cure a failure, where its pattern is one of the known ones
- `stuck`: the same where nobody can go on
- `early`: the same where a task looks or goes on before another one is done
- `together`: the same where steps of a task belong together
- `cancelled`: the same where a task is cancelled
- `misused`: the same where something is used by those, or at a time, that it is not made for
- `reading`: where and how the moments of an execution touch what they touch
- `sources`: what stands around a line of the user's source
- `asked`: the steps of an execution that change what its property reads
- `orders`: whether an execution that violates a property by its own order of steps would not in another
  order of them
"""
