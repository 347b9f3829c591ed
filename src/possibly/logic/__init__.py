"""Formulas: their text, their trees, what they mean; no trace in sight.

`lexer`, `cursor`, `parser` text to tree (`words`: the tables of words, `source`: places for errors)
`syntax`, `walk`, `depth`    the tree itself and how to walk it, however deep it is
`printer`                    tree to text
`languages`                  of properties, and what each speaks of
`specification`              files of named formulas
`bind`                       names to what a trace has; quantifiers and lets expanded
`pairs`, `sifting`           quantifiers over many processes: as a count, or for those that can matter
`predicate`, `closures`, `values`   state predicates as fast functions
`classes`, `relation`        what the form of a predicate promises
`progression`                finite LTL as an automaton
"""
