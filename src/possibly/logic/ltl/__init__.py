"""Finite linear temporal logic: normal forms, automata, claims.

- `automaton`: automata as a search reads them
- `claims`: claims: finite LTL with past, watched while a run grows, three-valued
- `claims_why`: why a claim is false, and what an undecided one still waits for
- `from_branching`: formulas of branching time that say the same in linear time
- `normal`: negation normal form of finite LTL: formulas as numbers in a table, each once, parts before the
  whole
- `progression`: finite LTL with past as an automaton that is built only where a run leads
- `tableau`: finite LTL to an automaton on finite words
- `tableau_normal`: negation normal form for the tableau
"""
