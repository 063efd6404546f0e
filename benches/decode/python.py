"""Python peers, each timing itself on the ids of inputs.py; the results are JSON on the standard output.

    python.py contest INPUTS TOKENIZER.JSON KEY LIBRARY ROUNDS LEAST_MS MOST_IDS
    python.py load TOKENIZER.JSON LIBRARY

The clock is processor time, or the one on the wall where the environment says BENCH_CLOCK=wall.
"""

import array
import hashlib
import json
import os
import sys
import time
from pathlib import Path

now = time.perf_counter if os.environ.get("BENCH_CLOCK") == "wall" else time.process_time


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
MODULES = {"tokenizers": "tokenizers", "iree-tokenizer": "iree.tokenizer"}


def digest(texts):
    """As inputs.py makes it."""
    out = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        out.update(len(data).to_bytes(4, "little") + data)
    return out.hexdigest()


def timed(task, calls):
    start = now()
    for _ in range(calls):
        task()
    return (now() - start) / calls


def race(task, rounds, least_ms):
    """The median, and half the distance of the quartiles over it; as timing.mjs does it."""
    calls, start = 0, now()
    while calls == 0 or (now() - start) * 1000 < least_ms:
        task()
        calls += 1
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
    peer = f"{library} (Python)"
    rows, faults = [], []
    for corpus, sizes in json.loads((Path(inputs) / f"{key}.json").read_text()).items():
        ids = array.array("I", (Path(inputs) / f"{key}-{corpus}.u32").read_bytes())
        for size in sizes:
            batch = size["batch"]
            count = size["ids"] * (len(size["starts"]) if batch else 1)
            if most_ids != "null" and count > float(most_ids):
                continue
            lists = [ids[start : start + size["ids"]].tolist() for start in size["starts"]]
            is_right = digest(decode_batch(lists) if batch else [decode(part) for part in lists]) == size["sha256"]
            block = 1 if batch else max(1, min(len(lists), 256 // size["ids"]))
            task = (lambda: decode_batch(lists)) if batch else in_turn(decode, lists, block)
            seconds, spread = race(task, int(rounds), float(least_ms))
            place = {"tokenizer": key, "corpus": corpus, "size": size["name"], "peer": peer}
            rows.append({**place, "ids": count, "us": seconds * 1e6 / block, "spread": spread, "isRight": is_right})
            if not is_right:
                faults.append({**place, "what": "another text"})
    return {"decode": rows, "faults": faults}


def status(name):
    """Of this process, in KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + ":"))


def load(file, library):
    data = Path(file).read_bytes()
    # What the import costs is not counted.
    __import__(MODULES[library])
    try:
        # Sets the mark of the highest resident memory back to what is resident now.
        Path("/proc/self/clear_refs").write_text("5")
        before = status("VmHWM")
    except OSError:
        before = None
    start = now()
    LIBRARIES[library](data)[0]([1000])
    result = {"cold": (now() - start) * 1000}
    if before is not None:
        result["grown"] = (status("VmHWM") - before) * 1024 / 1e6
    start = now()
    LIBRARIES[library](data)[0]([1000])
    return {**result, "warm": (now() - start) * 1000}


print(json.dumps({"contest": contest, "load": load}[sys.argv[1]](*sys.argv[2:])))
