"""Tests under every schedule: what the plugin for pytest and the decorator for unittest do.

    options.py     what a test is asked: command line, ini file, marker, pyproject.toml
    inside.py      what one execution does: fixtures, the test, the fixtures' end
    fixtures.py    which fixtures of a wider scope an execution needs anew
    measured.py    lines that executions reach, for coverage
    judged.py      what the answer means for the test
    artefacts.py   files of a failure: schedule, trace, page
    explored.py    a test that is explored
    recorded.py    a test that is recorded and checked
    decorator.py   `possibly.explored`, for unittest and for plain functions

`views/pytest_plugin.py` has the hooks and imports these when they are needed.

- `terminal`: the terminal for a debugger, while pytest keeps what tests print
"""
