"""What generate.py and compat.py share."""

import hashlib
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = HERE.parent.parent / ".cache" / "tokenizers"
BLOCK = 1000


class Lcg:
    """Numbers that Rust and JavaScript make alike: state = state * 1664525 + 1013904223 mod 2^32, below(n) = state * n >> 32."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return self.state * n >> 32


def sweeps(max_id):
    """Name and id lists of every sweep; a block is BLOCK ids."""
    count = max_id + 1 + 24
    yield "single", BLOCK, ([id] for id in range(count))
    pairs = Lcg(1)
    yield "pair", BLOCK, ([id, pairs.below(count)] for id in range(count))
    yield "run", BLOCK // 10, (list(range(id, min(id + 10, count))) for id in range(0, count, 10))
    random = Lcg(2)
    yield "random", BLOCK // 50, ([random.below(count) for _ in range(50)] for _ in range(400))


def digests(tokenizer, per_block, lists, skip):
    """For every `per_block` texts, 16 hex digits: SHA-256 over each text's byte length (u32, little endian) and UTF-8."""
    out = []
    for start in range(0, len(lists), per_block):
        block = hashlib.sha256()
        for text in tokenizer.decode_batch(lists[start : start + per_block], skip_special_tokens=skip):
            data = text.encode()
            block.update(len(data).to_bytes(4, "little") + data)
        out.append(block.hexdigest()[:16])
    return "".join(out)


def line(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Quiet:
    """Keeps the reference's panic messages off the terminal."""

    def __enter__(self):
        sys.stderr.flush()
        self.kept, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_):
        os.dup2(self.kept, 2)
        os.close(self.kept)
