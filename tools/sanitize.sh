#!/bin/sh
# The compiled kernels under AddressSanitizer and UBSan: their tests, and mutated traces (make sanitize).
# With VALGRIND=1 instead: the same tests under valgrind, which takes long.
set -eu
python=$1
folder=build/sanitized
tests="tests/trace/test_compiled.py tests/trace/columns/test_form.py tests/trace/test_index.py
  tests/order/test_kernels.py tests/order/growing/test_batches.py tests/order/test_bitmaps.py
  tests/order/test_components.py tests/detection/explicit/test_compiled.py tests/detection/online/test_compiled.py
  tests/detection/test_slices_twins.py"
rm -rf $folder
mkdir -p $folder
cp -r src setup.py pyproject.toml README.md $folder
find $folder -name '*.so' -delete
flags="-O1 -g"
[ -n "${VALGRIND:-}" ] || flags="$flags -fsanitize=address,undefined -fno-sanitize-recover=undefined"
(cd $folder && CFLAGS="$flags" LDFLAGS="$flags" POSSIBLY_BUILD=kernels "$python" setup.py -q build_ext --inplace 2>/dev/null)
export PYTHONPATH="$folder/src:." PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0
run() {
  if [ -n "${VALGRIND:-}" ]; then
    valgrind --quiet --error-exitcode=9 --undef-value-errors=no "$@"
  else
    LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" "$@"
  fi
}
run "$python" -m pytest -q -p no:cacheprovider -o pythonpath="$folder/src ." $tests
[ -n "${VALGRIND:-}" ] ||
  run "$python" -m fuzz trace twins columns checked --no-limit --seconds "${SECONDS_EACH:-10}"
