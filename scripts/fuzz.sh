#!/usr/bin/env bash
# Runs every fuzz target for some time, from seeds that are copied out of the tests; stops at the first crash.
#
#   scripts/fuzz.sh [TARGET...]      FUZZ_SECONDS: for each target, 120 if not set
#
# What is found stays in fuzz/corpus; a crash leaves its input in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo +nightly --version > /dev/null 2>&1 || { echo "fuzzing needs a nightly compiler: rustup toolchain install nightly" >&2; exit 2; }
cargo fuzz --version > /dev/null 2>&1 || { echo "fuzzing needs cargo-fuzz: cargo install --locked cargo-fuzz" >&2; exit 2; }

# Which small fixtures each target starts from: a pattern of their paths. Short inputs are quick, and have all shapes.
declare -A seeds=(
  [enrich_auto]='.'
  [record]='fixtures/(producers|captures)'
  [otlp_json]='wire/otlp/.*\.json$'
  [otlp_proto]='wire/otlp/.*\.pb$'
  [mlflow]='wire/mlflow'
  [weave]='weave'
  [trackio]='trackio'
  [sse]='stream'
  [layouts]='^$'
  [options]='^$'
  [tokenizer_json]='^$'
  [packed]='^$'
  [decode]='^$'
  [pieces]='^$'
  [stream]='^$'
)

seed() {
  local target=$1 folder=fuzz/corpus/$1
  mkdir -p "$folder"
  find tests/fixtures -type f -size -9k | grep -Ev '/(meta|expected|index)\.json$|README' | grep -E "${seeds[$target]}" | while read -r file; do
    cp "$file" "$folder/seed-$(echo "${file#tests/fixtures/}" | tr / +)"
  done || true
  case $target in
    layouts | options | tokenizer_json) python3 scripts/fuzz-seeds.py "$target" "$folder" ;;
    decode | pieces | stream) for kind in {0..17}; do printf "\\x$(printf %x "$kind")\\x0e\\x8f\\x10\\x01" > "$folder/seed-$kind"; done ;;
    packed) printf '\0' > "$folder/seed-0" ;;
  esac
}

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | grep -v token2text)
for target in "${targets[@]}"; do
  seed "$target"
  echo "== $target: $(find "fuzz/corpus/$target" -type f | wc -l) inputs"
  # Without a sanitizer: there is no unsafe code, and all that is looked for panics.
  cargo +nightly fuzz run --sanitizer none "$target" -- \
    -max_total_time="${FUZZ_SECONDS:-120}" -max_len=8192 -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 2>&1 |
    grep -vE 'REDUCE|NEW|pulse|RELOAD' | tail -n 40
done
echo "ok: ${#targets[@]} fuzz targets"
