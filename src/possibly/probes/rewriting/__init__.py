"""Source of the user's modules, rewritten so that what is watched tells of itself.

- `candidates`: which variables of a program its tasks may share, by a look at its source
- `following`: what the rewriting of source is to tell of beside shared memory; set before anything is
  rewritten
- `imports`: the import hook
- `scopes`: which scope a name of a Python source belongs to
- `source`: rewriting the source of the user's own modules, so that what is watched tells of itself
- `switches`: telling that ends when it becomes too much
- `trees`: pieces of syntax trees that the rewriting of source is made of, and where they stand in the text
"""
