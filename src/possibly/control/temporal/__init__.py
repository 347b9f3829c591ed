"""The temporal debugger: a system is stepped through by formulas, and the steps are kept on a stack.

- `compiled`: breadth-first search of a model in C: the compiled twin of `search.BreadthFirst`
- `lattice_system`: the lattice of a recorded run as a system
- `live`: A live program as states
- `loops`: whether a formula allows arbitrarily long steps from a state
- `memoryless`: memoryless search
- `model_system`: A model file as a system
- `options`: how a temporal step is searched for
- `product`: the product of a system and the automaton of a formula, made where a search leads
- `search`: searches for temporal steps that can be left and taken up again
- `why`: why no step satisfies a formula
"""

from __future__ import annotations
