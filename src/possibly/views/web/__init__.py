"""The picture: one self-contained HTML page (`page`) from one document (`document`), or live (`server`).

- `columns`: columns of numbers and texts as JSON that a page can carry
- `contents`: what a page of a run shows beside the run
- `debugging`: the temporal stack in the live page
- `executions`: the executions of a search as a tree
- `explored`: the tree of a search's executions for the page
- `failures`: the page of an exploration
- `lattices`: the cuts of a small run, and slices as graphs of their components, for the page
- `macro`: the tree of macro-steps for the page
- `markup`: HTML and SVG built from parts, safe by construction
- `models`: trees and stacks as data that any part of the project can fill and the page draws
- `static`: the report as plain markup, for readers without scripts
- `index`: the page of many runs
"""
