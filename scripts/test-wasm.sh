#!/usr/bin/env bash
# Runs the WebAssembly tests in Node or in a browser, and fails if none ran: the runner skips silently what is
# configured for another place.
#
#   scripts/test-wasm.sh node|chrome
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH="$PWD/.tools/bin:$PATH"
# As scripts/build.js does.
export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS=-Ctarget-feature=+simd128
export WASM_BINDGEN_TEST_TIMEOUT=${WASM_BINDGEN_TEST_TIMEOUT:-120}
export WASM_BINDGEN_TEST_DRIVER_TIMEOUT=${WASM_BINDGEN_TEST_DRIVER_TIMEOUT:-30}

case ${1:-} in
  node) arguments=(--node) ;;
  chrome)
    arguments=(--headless --chrome)
    export WASM_BINDGEN_USE_BROWSER=1
    ;;
  *) echo "usage: $0 node|chrome" >&2; exit 2 ;;
esac

log=$(mktemp)
trap 'rm -f "$log"' EXIT
wasm-pack test "${arguments[@]}" --mode no-install -- --locked --test wasm 2>&1 | tee "$log"

passed=$(sed -n 's/.*test result: ok\. \([0-9]*\) passed.*/\1/p' "$log" | awk '{ sum += $1 } END { print sum + 0 }')
if [ "$passed" -eq 0 ]; then
  echo "no test ran in $1" >&2
  exit 1
fi
if grep -q 'only configured to run in' "$log"; then
  echo "a test suite was skipped in $1" >&2
  exit 1
fi
echo "$passed tests ran in $1"
