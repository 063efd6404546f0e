"""Writes what Python `tokenizers` makes of the text of ids, encoded again, into drift.json.

    .cache/venv-oracle/bin/python tests/oracle/drift.py            writes it
    .cache/venv-oracle/bin/python tests/oracle/drift.py --check    compares with what is committed

README.md in this folder says what the file holds.
"""

import json
import sys

from tokenizers import Tokenizer

from encode import digest
from generate import VERSION, corpus
from oracle import CACHE, HERE, Lcg, line

PATH = HERE / "drift.json"
MOST = 30


def halves(word, vocab, prefix):
    """All ways to spell a word of the vocabulary by two."""
    at = [k for k in range(1, len(word)) if not (prefix and k <= len(prefix) and word.startswith(prefix))]
    pairs = ((vocab.get(word[:k]), vocab.get(prefix + word[k:])) for k in at)
    return [pair for pair in pairs if None not in pair]


def lists(tokenizer):
    """Name and ids of each list."""
    random = Lcg(5)
    vocab = tokenizer.get_vocab(with_added_tokens=False)
    words = {id: word for word, id in vocab.items()}
    prefix = "##" if "##s" in vocab and "[CLS]" in vocab else ""
    added = sorted(tokenizer.get_added_tokens_decoder().items())
    chosen = [id for id, _ in added[:4] + added[4:][-4:]]
    naturals = []
    for name, text in corpus().items():
        naturals.append((name, tokenizer.encode(text[:200], add_special_tokens=False).ids[:MOST]))

    def other(ids, odds):
        """The same text in other tokens: some words in two, at random."""
        out = []
        for id in ids:
            pairs = halves(words.get(id, ""), vocab, prefix) if random.below(odds) == 0 else []
            out.extend(pairs[random.below(len(pairs))] if pairs else (id,))
        return out[:MOST]

    for at, (name, ids) in enumerate(naturals):
        yield f"natural/{name}", ids
        yield f"split/{name}", other(ids, 3)
        yield f"split_all/{name}", other(other(ids[: MOST // 2], 1), 1)
        start = random.below(max(len(ids), 1))
        yield f"cut/{name}", ids[start:] + ids[:start]
        yield f"shuffled/{name}", [ids[random.below(len(ids))] for _ in ids[: MOST // 2]]
        if chosen:
            special = [chosen[(at + k) % len(chosen)] for k in range(2)]
            middle = random.below(max(len(ids), 1))
            yield f"special/{name}", [special[0], *ids[:middle], special[1], *ids[middle : MOST - 2]]
    tokenizer.encode_special_tokens = True
    spelled = {id: tokenizer.encode(token.content, add_special_tokens=False).ids for id, token in added if id in chosen}
    tokenizer.encode_special_tokens = False
    for at, id in enumerate(chosen):
        ids = naturals[at][1][:10]
        yield f"spelled/{at}", [*ids, *spelled[id], *ids, id, *spelled[id], id]
    unknown = tokenizer.get_vocab_size() + 1000
    for at in range(6):
        ids = naturals[at * 3][1]
        middle = random.below(max(len(ids), 1))
        yield f"unknown/{at}", [*ids[:middle], *[unknown] * (1 + at % 3), *other(ids[middle:], 3)]


def again(tokenizer, ids):
    return tokenizer.encode(tokenizer.decode(ids, skip_special_tokens=False), add_special_tokens=False).ids


def real(entry):
    tokenizer = Tokenizer.from_file(str(CACHE / entry["key"] / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    cases = [[name, ids, digest(again(tokenizer, ids))] for name, ids in lists(tokenizer)]
    count = max(tokenizer.get_vocab().values()) + 1 + 24
    random = Lcg(7)
    sweep = [again(tokenizer, [random.below(count) for _ in range(20)]) for _ in range(200)]
    return {"key": entry["key"], "sha256": entry["files"]["tokenizer.json"]["sha256"], "count": count, "cases": cases, "random": [digest(ids) for ids in sweep]}  # fmt: skip


def main():
    entries = json.loads((HERE / "tokenizers.json").read_text(encoding="utf-8"))["tokenizers"]
    head = line({"tokenizers": VERSION})
    text = head[:-1] + ',\n"real":[\n' + ",\n".join(line(real(entry)) for entry in entries) + "\n]}\n"
    if "--check" in sys.argv[1:]:
        if text != PATH.read_text(encoding="utf-8"):
            sys.exit("drift.json is DIFFERENT from what is committed")
        return print("drift.json: as committed")
    PATH.write_text(text, encoding="utf-8")
    print(f"drift.json: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
