"""Answers from slices: few cuts are visited, or none.

- `by_projection`: the slice of a formula whose processes have few cuts
- `by_test`: the slice of a predicate for which EF can be tested
- `by_values`: predicates over several processes that take few values
- `closure`: the slice of any predicate
- `containing`: A slice that contains every cut of a formula, whatever the formula
- `declared`: declared classes, checked where that is cheap
- `definitely`: AF of any regular predicate
- `extension`: long paths, straight from the sparse order
- `inside`: EF and AG of any state predicate, searched inside the slice of what can be sliced of it
- `intervals`: AF of a conjunction of local predicates, by intervals (also known as "definitely")
- `oracle`: operators over predicates of a known class, by evaluating the predicate at few cuts
- `sliced`: the polynomial engine
- `slicing`: formulas as slices
- `steps`: AG and EF of what one process says of its state and of its next step
- `together`: which pairs of processes can be in given states at the same cut
"""
