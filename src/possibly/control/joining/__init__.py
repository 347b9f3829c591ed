"""Joining equal states, so that fewer executions are needed than there are classes of schedules.

- `frames.py`: what the frames of a task hold while it stands still
- `unseen.py`: lists of which the program cannot see all, as its source shows
- `codes.py`: what a function does, as a digest
- `values.py`: values by their content, word by word
- `surroundings.py`: threads, loggers and arguments, which are nobody's variables
- `state.py`: the state at a choice point, as a digest
- `route.py`: the scheduler that looks at the states it comes to
- `entries.py`: what states below tell those above
- `graph.py`: the graph of states, and what is still to be tried
- `explorer.py`: the explorer
- `both.py`: the search over states beside the one by classes
- `same_source.py`: programs whose threads do the same, as their source shows
- `alike.py`: interchangeable tasks go in one order
- `compared.py`: numbers that are only added to and compared with constants
- `orders.py`: orders that are left out while a program runs
"""
