"""Commands about traces, logs and histories.

- `check`: `possibly check TRACE...`
- `deadlocks`: `--deadlocks` of `check` and `run`
- `diff`: `possibly diff RUN RUN`
- `export`: `possibly export TRACE --to FORMAT`
- `import_`: `possibly import FORMAT LOG`
- `linearizable`: `possibly linearizable HISTORY --model MODEL`
- `many`: `possibly check 'runs/**/*.jsonl*'`
- `paths`: `possibly paths EXPRESSION`
- `patterns`: `possibly patterns [NAME]`
- `races`: `--races` of `check` and `run`
- `serializable`: `possibly serializable HISTORY`
- `slice`: `possibly slice TRACE PREDICATE`
- `suggest`: `possibly suggest TRACE`
- `coverage`: `possibly coverage TRACE...`
"""
