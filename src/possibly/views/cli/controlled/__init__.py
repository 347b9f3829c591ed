"""Commands that run a program, or watch one.

- `as_test`: `possibly replay FILE --as-test`
- `attach`: `possibly attach PID`
- `confirm`: `possibly confirm TRACE PROPERTY PROGRAM`
- `confirm_deadlocks`: `possibly confirm TRACE deadlock PROGRAM`
- `confirmed_run`: `possibly run --confirm`
- `dap`: `possibly dap`
- `explore`: `possibly explore PROGRAM [ARGUMENTS]`
- `live`: `python -m possibly.views.cli.controlled.live PROGRAM`
- `macro`: `possibly explore --macro` and the replay of its trees
- `macro_answer`: the answer of `possibly explore --macro`
- `replay`: `possibly replay FILE`
- `run`: `possibly run PROGRAM [ARGUMENTS]`
- `watch`: `possibly watch`
- `watch_spans`: `possibly watch otlp://…`
"""
