#!/usr/bin/env bash
# Says what is missing on this machine and how to get it, before anything is built.
set -uo pipefail

missing=0
need() { # message
  echo "missing: $1" >&2
  missing=1
}

command -v cargo >/dev/null || need "cargo. Install Rust with rustup: https://rustup.rs"
command -v rustup >/dev/null || rustc --print target-libdir --target wasm32-unknown-unknown >/dev/null 2>&1 ||
  need "rustup, or a Rust with the target wasm32-unknown-unknown. Install Rust with rustup: https://rustup.rs"

if command -v node >/dev/null; then
  node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' ||
    need "Node 20.19 or newer (this is $(node --version)). Install it from https://nodejs.org"
  command -v npm >/dev/null || need "npm. It comes with Node: https://nodejs.org"
else
  need "Node 20.19 or newer. Install it from https://nodejs.org"
fi

if [ "${1:-}" = test ]; then
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
    need "Python 3.10 or newer, for the tests. Install it from your system's packages or https://python.org"
  command -v curl >/dev/null || need "curl, for the tests. Install it from your system's packages"
  command -v openssl >/dev/null || need "openssl, for the tests. Install it from your system's packages"
fi
exit "$missing"
