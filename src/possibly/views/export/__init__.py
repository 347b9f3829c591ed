"""Traces in foreign formats: DOT (`dot`) and ShiViz logs (`shiviz`).

- `arcs`: graphs with cycles as a column of shapes
- `as_test`: A failure as a test
- `automaton`: the automaton of a formula as a picture
- `boxes`: boxes in rows and columns with arrows between them
- `flowgraph`: flow graphs of a model's processes, as in figure 4 of "Temporal debugging for concurrent
  systems".
- `graphs`: pictures of what path expressions compile to, of the lattice of cuts, of slices, and of trees
- `net`: pictures of the task logic
- `paths`: pictures of a path expression
- `png`: pictures as PNG, painted from their SVG.
- `promela`: A computation as a model for SPIN: its states are the cuts, its runs the observations
- `promela_property`: A computation and one property as a model for SPIN, in the form in which SPIN has the
  least to do
- `source_graph`: flow graphs of a live program, drawn from its source
- `stack`: the temporal stack as a picture, as in figure 1 of "Temporal debugging for concurrent systems".
- `svg`: the space-time diagram of a computation as one SVG file
"""
