"""Writes seeds for the fuzz targets that read no bodies: layouts, options, tokenizers.

    python3 scripts/fuzz-seeds.py layouts|options|tokenizer_json FOLDER
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).parent.parent


def layouts():
    for layout in json.loads((ROOT / "src/layouts/builtin.json").read_text()):
        yield json.dumps(layout).encode()


def options():
    yield b"{}"
    yield json.dumps(
        {
            "format": "record",
            "layouts": ["verl", "auto", {"name": "l", "when": ["/output"], "fields": [{"kind": "prompt", "ids": "/output/a", "text": "/output/b"}]}],
            "existing": "replace",
            "skipSpecialTokens": True,
            "messages": False,
            "ids": "drop",
            "maxTextChars": 2,
            "limits": {"bodyBytes": 1000, "depth": 9, "idsPerField": 3, "textBytesPerField": 10},
        }
    ).encode()


def tokenizer_json():
    for item in json.loads((ROOT / "tests/oracle/handmade.json").read_text())["items"]:
        raw = item.get("raw")
        yield raw.encode() if isinstance(raw, str) else json.dumps(item.get("tokenizer")).encode()


target, folder = sys.argv[1:]
for i, seed in enumerate({"layouts": layouts, "options": options, "tokenizer_json": tokenizer_json}[target]()):
    (pathlib.Path(folder) / f"seed-{i}").write_bytes(seed)
