"""How code comes under control: what is instrumented, what is patched, and when.

- `ahead`: what a program imports, imported before it begins, so that no execution does it again
- `beneath`: installed packages beneath the modules whose order counts
- `callers`: functions of libraries that call what the program gave them
- `entries`: which packages tasks enter
- `evaluated`: code that `exec` and `eval` execute
- `following`: what a specification speaks of beside shared memory
- `install`: putting the models in place of what they model, once, in the process that is forked for each
  execution
- `instrumented`: the user's modules, instrumented so that every access can wait; each file is instrumented
  once and kept
- `library`: classes and functions of the standard library in Python that keep what the program gives them
- `packages`: python code of installed packages and of the standard library, watched where it runs beside
  other tasks
- `states`: what watched packages keep in their modules and classes, named before a second task can touch it
"""
