#!/bin/sh
# Which of the interpreters named are here and run, each by its own path: a name on the PATH may be a shim of a
# version manager that has nothing behind it.
for name in "$@"; do
    "$name" -c 'import sys; print(sys.executable)' 2>/dev/null </dev/null || echo "not here: $name" >&2
done
