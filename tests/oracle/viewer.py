"""Writes what the calls of recorded rollouts say as a whole, prompt and response decoded together, into viewer.json.

    .cache/venv-oracle/bin/python tests/oracle/viewer.py            writes it
    .cache/venv-oracle/bin/python tests/oracle/viewer.py --check    compares with what is committed

The expected texts of the captures are those of each list by itself; the viewer shows a call as one sequence.
"""

import hashlib
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer

from oracle import CACHE, HERE

CAPTURES = HERE.parent / "fixtures/captures"
PATH = HERE / "viewer.json"
WANTED = ["verl-calls-qwen3", "verl-calls-llama2", "verl-calls-llama3_1", "edge-image-qwen3", "edge-ids-qwen3", "edge-huge-qwen3"]
# Longer texts are told by their digest.
LONGEST = 8192


def is_ids(value):
    return isinstance(value, list) and len(value) > 0 and all(type(id) is int and 0 <= id < 2**31 for id in value)


def call_ids(record):
    """Prompt and response of a record of verl, if both are plain lists of ids."""
    inputs, outputs = record.get("inputs"), record.get("outputs")
    if not isinstance(inputs, dict) or not isinstance(outputs, dict):
        return None
    prompt = outputs.get("prompt_ids") or inputs.get("prompt_ids")
    response = outputs.get("response_ids") or outputs.get("token_ids")
    return prompt + response if is_ids(prompt) and is_ids(response) else None


def entry(capture):
    folder = CAPTURES / capture
    key = json.loads((folder / "meta.json").read_text())["tokenizer"][0]
    tokenizer = Tokenizer.from_file(str(CACHE / key / "tokenizer.json"))
    calls = []
    for number, text in enumerate((folder / "calls.jsonl").read_text().splitlines()):
        ids = call_ids(json.loads(text))
        if ids is None or any(tokenizer.id_to_token(id) is None for id in ids):
            continue
        said = tokenizer.decode(ids, skip_special_tokens=False)
        digest = hashlib.sha256(said.encode()).hexdigest()
        calls.append({"line": number, "tokens": len(ids), **({"text": said} if len(said) <= LONGEST else {"sha256": digest, "length": len(said)})})
    return {"capture": capture, "tokenizer": key, "calls": calls}


def main():
    lines = ",\n".join(json.dumps(entry(capture), ensure_ascii=False) for capture in WANTED)
    written = f"[\n{lines}\n]\n"
    if "--check" not in sys.argv:
        PATH.write_text(written)
    elif PATH.read_text() != written:
        sys.exit(f"{Path(PATH).name} says something else")


main()
