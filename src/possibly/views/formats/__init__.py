"""Answers for other tools: what CI servers, code hosts and editors read.

findings.py      one answer at places in source files, and the answers on one run, as data
places.py        where a place of a trace lies on this machine
of_check.py      a report of `check` or `watch` as findings
of_races.py      races of a recorded run as findings
of_explore.py    an exploration as findings
of_macro.py      a tree of macro-steps as findings
github.py        annotations of GitHub's workflows
junit.py         JUnit's XML
sarif.py         SARIF 2.1.0
render.py        the table of formats

- `of_deadlocks`: predicted deadlocks as findings
"""
