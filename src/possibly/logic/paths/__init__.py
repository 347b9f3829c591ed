"""Data path expressions: runs described as expressions over events, with true concurrency.

`syntax`, `parser`     the expression and its text
`compiled`             the expression as a numbered tree: symbols, scopes, what must be remembered
`rules`, `actions`     the text of synchronisation rules and of actions
`machine`, `run`       what may come next: the deterministic predecessor automaton, made as it is used
`forms`, `readings`    what has been done of an expression, and what it may take next
`fragments`            copies as far as the order tells which events belong together
`completion`           whether what was begun can still be completed
`alternatives`         readings that differ in what one part comes after, as one
`alike`                events that can change places, so that one of their readings stands for all
`automaton`            the same automaton in full, for pictures and figures
`attributes`           the automaton by the paper's attribute grammar, where that applies
`conversion`           N(R), the removal of empty repetitions
`classes`              the five subclasses
`copies`               copies that cannot be taken for each other
`nets/`                expressions as Petri nets, and nets as expressions

After Hseush and Kaiser, Modeling Concurrency in Parallel Debugging (1989). No trace in sight.
"""
