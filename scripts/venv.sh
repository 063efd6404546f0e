#!/usr/bin/env bash
# Makes .cache/venv-<name> from tests/oracle/requirements-<name>.txt, tests/<name>/requirements.txt or <name>/requirements.txt,
# or leaves it when it is up to date; prints its python.
#     scripts/venv.sh oracle | transformers4 | transformers5 | otlp | otel | write | prometheus | integration | trackio | collector | phoenix | benches
# Options of pip stand in a line `# pip: ...` of the file.
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:?"usage: scripts/venv.sh NAME"}
requirements=tests/oracle/requirements-$name.txt
[ -f "$requirements" ] || requirements=tests/$name/requirements.txt
[ -f "$requirements" ] || requirements=$name/requirements.txt
venv=.cache/venv-$name
[ -f "$requirements" ] || { echo "there is no $requirements" >&2; exit 2; }
if ! cmp -s "$requirements" "$venv/requirements.txt"; then
    echo "installing $requirements into $venv" >&2
    # A person wants to see that it goes on.
    [ -t 2 ] && quiet= || quiet=--quiet
    rm -rf "$venv"
    python3 -m venv "$venv" >&2
    # Unquoted: none or several words.
    "$venv/bin/pip" install $quiet --disable-pip-version-check $(sed -n 's/^# pip: //p' "$requirements") -r "$requirements" >&2
    cp "$requirements" "$venv/requirements.txt"
fi
echo "$venv/bin/python"
