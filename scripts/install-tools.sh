#!/usr/bin/env bash
# Puts the command line tools of WebAssembly into .tools/, unless the machine has the very version already.
#
#   scripts/install-tools.sh [wasm-bindgen] [wasm-pack] [chromium] [firefox] [nginx] [nats-server]
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/.tools
export PATH="$tools/bin:$PATH"
wasm_pack_version=0.15.1

# wasm-bindgen's program and crate must be of one version.
bindgen_version() {
  awk '$0 == "name = \"wasm-bindgen\"" { getline; gsub(/version = |"/, ""); print }' Cargo.lock
}

has_version() { # program version
  [ "$("$1" --version 2>/dev/null | awk '{ print $2 }')" = "$2" ]
}

install_wasm_bindgen() {
  local version
  version=$(bindgen_version)
  has_version wasm-bindgen "$version" && has_version wasm-bindgen-test-runner "$version" && return
  echo "== installing wasm-bindgen-cli $version (a few minutes, once)"
  # Its own lockfile is not always resolvable; without TLS it is smaller, and only local drivers are used.
  cargo install wasm-bindgen-cli --version "$version" --no-default-features --root "$tools"
}

install_wasm_pack() {
  has_version wasm-pack "$wasm_pack_version" && return
  echo "== installing wasm-pack $wasm_pack_version (a few minutes, once)"
  # It only starts others: without optimisation it is compiled in half the time.
  cargo install wasm-pack --version "$wasm_pack_version" --locked --debug --root "$tools"
}

# Browsers and servers come from the system's packages.
install_packages() { # what, packages
  local what=$1
  shift
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "== installing $what"
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
    return
  fi
  echo "missing: $what, for the tests." >&2
  echo "Install it from your system's packages (Debian: apt-get install $*)." >&2
  exit 1
}

install_chromium() {
  command -v chromium >/dev/null && command -v chromedriver >/dev/null && return
  install_packages "Chromium and its driver" chromium chromium-driver
}

install_firefox() {
  command -v firefox-esr >/dev/null && return
  install_packages "Firefox ESR" firefox-esr
}

install_nginx() {
  command -v nginx >/dev/null && return
  install_packages "nginx" nginx-light
}

install_nats_server() {
  command -v nats-server >/dev/null && return
  install_packages "nats-server" nats-server
}

for tool in "$@"; do
  case $tool in
    wasm-bindgen) install_wasm_bindgen ;;
    wasm-pack) install_wasm_pack ;;
    chromium) install_chromium ;;
    firefox) install_firefox ;;
    nginx) install_nginx ;;
    nats-server) install_nats_server ;;
    *) echo "no such tool: $tool" >&2; exit 2 ;;
  esac
done
