"""What is to be recorded of the program's own modules, and how their code comes to tell it.

- `candidates`: which variables of a program its tasks may share, by a look at its source
- `containers`: sites for containers that change in place
- `following`: what an exploration is to tell of beside shared memory; set before anything is instrumented
- `imports`: the import hook
- `insert`: sites for what is watched, put into code objects
- `labels`: labels, which stand in comments, and the marks of those that belong to no assignment
- `modules`: the code of one module with all that it is to tell
- `names`: whether a name of a code object is a watched variable
- `placing`: where sites are put, and what is known of the stack and of names there
- `scopes`: which scope a name of a Python source belongs to
- `telling`: what a site tells, and who makes it
- `watch`: what is to be recorded beside synchronisation
"""
