"""Python peers, each timing itself on the ids of inputs.py; the results are JSON on the standard output.

    python.py contest INPUTS TOKENIZER.JSON KEY LIBRARY ROUNDS LEAST_MS MOST_IDS
    python.py load TOKENIZER.JSON LIBRARY
"""

import array
import hashlib
import json
import sys
import time
from pathlib import Path


def tokenizers_of(data):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    return (
        lambda ids: tokenizer.decode(ids, skip_special_tokens=False),
        lambda lists: tokenizer.decode_batch(lists, skip_special_tokens=False),
    )


def iree_of(data):
    from iree.tokenizer import Tokenizer

    tokenizer = Tokenizer.from_buffer(data)
    return tokenizer.decode, tokenizer.decode_batch


LIBRARIES = {"tokenizers": tokenizers_of, "iree-tokenizer": iree_of}


def digest(texts):
    out = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        out.update(len(data).to_bytes(4, "little") + data)
    return out.hexdigest()


def timed(task, calls):
    start = time.process_time()
    for _ in range(calls):
        task()
    return (time.process_time() - start) / calls


def race(task, rounds, least_ms):
    """The median, and half the distance of the quartiles over it; as timing.mjs does it."""
    for _ in range(2):
        calls, start, ms = 0, time.process_time(), 0
        while ms < least_ms:
            task()
            calls += 1
            ms = (time.process_time() - start) * 1000
    rounds = min(rounds, max(5, int(1500 / ms)))
    times = sorted(timed(task, calls) for _ in range(rounds))
    at = lambda part: times[int((len(times) - 1) * part)]
    return at(0.5), (at(0.75) - at(0.25)) / 2 / at(0.5)


def in_turn(decode, parts, block):
    at = 0

    def task():
        nonlocal at
        for _ in range(block):
            decode(parts[at])
            at = (at + 1) % len(parts)

    return task


def contest(inputs, file, key, library, rounds, least_ms, most_ids):
    decode, decode_batch = LIBRARIES[library](Path(file).read_bytes())
    rows = []
    for corpus, sizes in json.loads((Path(inputs) / f"{key}.json").read_text()).items():
        ids = array.array("I", (Path(inputs) / f"{key}-{corpus}.u32").read_bytes())
        for size in sizes:
            batch = size["batch"]
            count = size["ids"] * (len(size["starts"]) if batch else 1)
            if count > float(most_ids):
                continue
            lists = [ids[start : start + size["ids"]].tolist() for start in size["starts"]]
            is_right = digest(decode_batch(lists) if batch else [decode(part) for part in lists]) == size["sha256"]
            block = 1 if batch else max(1, min(len(lists), 256 // size["ids"]))
            task = (lambda: decode_batch(lists)) if batch else in_turn(decode, lists, block)
            seconds, spread = race(task, int(rounds), float(least_ms))
            us = seconds * 1e6 / block
            row = {"tokenizer": key, "corpus": corpus, "size": size["name"], "ids": count, "peer": f"{library} (Python)"}
            rows.append({**row, "us": us, "spread": spread, "isRight": is_right})
            if not is_right:
                print(f"{key}, {corpus}, {size['name']}: {library} (Python) gives another text", file=sys.stderr)
    return rows


def load(file, library):
    data = Path(file).read_bytes()
    # What the import costs is not counted.
    __import__({"tokenizers": "tokenizers", "iree-tokenizer": "iree.tokenizer"}[library])
    times = []
    for _ in range(2):
        start, wall = time.process_time(), time.perf_counter()
        LIBRARIES[library](data)[0]([1000])
        times.append(((time.process_time() - start) * 1000, (time.perf_counter() - wall) * 1000))
    return {"cold": times[0][0], "wall": times[0][1], "warm": times[1][0]}


print(json.dumps({"contest": contest, "load": load}[sys.argv[1]](*sys.argv[2:])))
