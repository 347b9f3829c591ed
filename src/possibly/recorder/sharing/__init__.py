"""What tasks share without synchronisation, found out while the program runs.

- `actions`: the actions of the probes as the compiled clocks read them
- `clocks`: who knows of whom while the program runs
- `races`: races: two accesses to one shared variable, one of them a write, that no synchronisation orders
- `shadow`: shadow memory: of everything that a program touches, who did so last; judged while the program
  runs
- `sites`: what an instruction of the program is about to touch
- `written`: what tasks share without synchronisation, written down as it happens
"""
