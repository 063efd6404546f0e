"""Writes what Python `tokenizers` makes of token ids into expected/*.json and handmade.json.

    .cache/venv-oracle/bin/python tests/oracle/generate.py               everything
    .cache/venv-oracle/bin/python tests/oracle/generate.py gpt2 handmade only these
    .cache/venv-oracle/bin/python tests/oracle/generate.py --check       compare with what is committed

README.md in this folder says what the files hold.
"""

import argparse
import json
import sys

import tokenizers
from tokenizers import Tokenizer

import handmade
from oracle import CACHE, HERE, Lcg, Quiet, digests, line, sweeps

VERSION = "0.23.3"


def corpus():
    """The texts of corpus.txt by name."""
    escapes = {"\\z": "\u200d", "\\t": "\t", "\\s": " ", "\\\\": "\\"}
    texts = {}
    for part in ("\n" + (HERE / "corpus.txt").read_text(encoding="utf-8")).split("\n=== ")[1:]:
        name, body = part.split("\n", 1)
        body, text, at = body.removesuffix("\n"), "", 0
        while at < len(body):
            if body.startswith("\\u{", at):
                end = body.index("}", at)
                text, at = text + chr(int(body[at + 3 : end], 16)), end + 1
            elif body[at] == "\\":
                text, at = text + escapes.get(body[at : at + 2], body[at : at + 2]), at + 2
            else:
                text, at = text + body[at], at + 1
        texts[name] = text
    return texts


CUT_CHARACTERS = ["é", "Ж", "ﷺ", "깰", "漢", "𠮷", "𒀀", "क्ष", "ཀྵ", "😀", "👍🏽", "👩\u200d🚀", "🇯🇵", "☕️", "‼", "\u00ad", "\ufffd", "\U0010ffff"]


def case_list(tokenizer, max_id):
    """Name and ids of every case whose whole text is kept."""

    def encode(text):
        return tokenizer.encode(text, add_special_tokens=False).ids

    vocab = set(tokenizer.get_vocab(with_added_tokens=True).values())
    hello, world = encode("Hello")[-1], encode(" world")[-1]
    yield "empty", []
    for name, text in corpus().items():
        yield f"corpus/{name}", encode(text)
    for name in ("chinese", "latin", "spaces"):
        yield f"with-special-tokens/{name}", tokenizer.encode(corpus()[name]).ids
    for character in CUT_CHARACTERS:
        ids = encode("a" + character + "b")
        for cut in range(1, len(ids)):
            yield f"cut/{character}/{cut}", ids[:cut]
            yield f"cut/{character}/-{cut}", ids[cut:]
        if len(ids) > 3:
            yield f"cut/{character}/reversed", ids[::-1]
            yield f"cut/{character}/unknown-inside", [ids[0], *[i for id in ids[1:] for i in (id, max_id + 7)]]
    added = sorted((id, token.special) for id, token in tokenizer.get_added_tokens_decoder().items())
    special = [id for id, is_special in added if is_special]
    plain = [id for id, is_special in added if not is_special]
    for kind, ids in (("special", special), ("plain", plain)):
        chosen = ids[:6] + ids[6:][-4:]
        yield f"added/{kind}/alone", chosen
        yield f"added/{kind}/before", [i for id in chosen for i in (id, world)]
        yield f"added/{kind}/after", [i for id in chosen for i in (hello, id)]
    if special:
        emoji = encode("a😀깰")
        yield "added/inside-a-character", [i for id in emoji for i in (id, special[0])]
        yield "added/doubled", [special[0], special[0], world, special[-1], special[-1], world]
    unknown = [id for id in range(max_id) if id not in vocab][:8] + [max_id + 1, max_id + 1000, 2**31, 2**32 - 1]
    yield "unknown/alone", unknown
    yield "unknown/first", [unknown[-4], world, hello]
    yield "unknown/between", [i for id in unknown for i in (hello, id, world)]
    random = Lcg(7)
    for at, length in enumerate((1, 2, 3, 5, 8, 13, 21, 34, 55, 89) * 2):
        yield f"random/{at}", [random.below(max_id + 20) for _ in range(length)]


def real(entry):
    path = CACHE / entry["key"] / "tokenizer.json"
    if not path.is_file():
        sys.exit(f"{path} is missing; run scripts/fetch-tokenizers.py")
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    max_id = max(tokenizer.get_vocab(with_added_tokens=True).values())
    cases = []
    for name, ids in case_list(tokenizer, max_id):
        case = {"name": name, "ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=False)}
        skipped = tokenizer.decode(ids, skip_special_tokens=True)
        if skipped != case["text"]:
            case["skipped"] = skipped
        cases.append(line(case))
    sweep_lines = []
    for name, per_block, lists in sweeps(max_id):
        lists = list(lists)
        kept, skipped = (digests(tokenizer, per_block, lists, skip) for skip in (False, True))
        sweep_lines.append(line({"name": name, "kept": kept, "skipped": skipped}))
    head = {
        "key": entry["key"],
        "tokenizers": VERSION,
        "sha256": entry["files"]["tokenizer.json"]["sha256"],
        "max_id": max_id,
        "ids": len(set(tokenizer.get_vocab(with_added_tokens=True).values())),
    }
    return (
        line(head)[:-1] + ',\n"cases":[\n' + ",\n".join(cases) + '\n],\n"sweeps":[\n' + ",\n".join(sweep_lines) + "\n]}\n"
    )


def load(data):
    """A tokenizer, or None when the reference refuses the file or panics on it."""
    try:
        return Tokenizer.from_buffer(data)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def decode(tokenizer, ids, skip):
    """The text, or None when the reference panics."""
    try:
        return tokenizer.decode(ids, skip_special_tokens=skip)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def handmade_item(item, complaints):
    value = item["value"]
    data = value if isinstance(value, bytes) else (value if isinstance(value, str) else handmade.text_of(value)).encode()
    out = {"name": item["name"]} | ({"trap": item["trap"]} if item["trap"] else {})
    out |= (
        {"hex": value.hex()} if isinstance(value, bytes)
        else {"raw": value} if isinstance(value, str) else {"tokenizer": value}
    )  # fmt: skip
    if item["differs"]:
        out["differs"] = item["differs"]
    tokenizer = load(data)
    if (tokenizer is None) != item["error"]:
        complaints.append(f"{item['name']}: {'does not load' if tokenizer is None else 'loads'}, unlike our notes")
    if tokenizer is None:
        return out | {"load_error": True}
    others = [load(data) for _ in range(40)] if item["either"] else []
    cases = [(list(ids), skip, said) for ids, skip, said in item["cases"]]
    known = sorted(tokenizer.get_vocab(with_added_tokens=True).values()) or [0]
    random = Lcg(len(item["name"]))
    for _ in range(item["random"]):
        ids = [random.below(min(known[-1], 10**6) + 2) for _ in range(1 + random.below(8))]
        cases += [(ids, False, None), (ids, True, None)]
    out["cases"] = []
    for ids, skip, said in cases:
        text = decode(tokenizer, ids, skip)
        case = {"ids": ids, "skip": skip} | ({"panics": True} if text is None else {"text": text})
        if others:
            texts = sorted({decode(other, ids, skip) for other in [tokenizer, *others]})
            case |= {"text": said, "either": texts}
            if said not in texts:
                complaints.append(f"{item['name']} {ids}: {said!r} in our notes, the reference gives {texts!r}")
        elif said is not None and said != text:
            complaints.append(f"{item['name']} {ids} skip={skip}: {said!r} in our notes, the reference gives {text!r}")
        if case not in out["cases"]:
            out["cases"].append(case)
    return out


def all_handmade():
    complaints = []
    with Quiet():
        items = [line(handmade_item(item, complaints)) for item in handmade.build()]
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if complaints:
        sys.exit(1)
    return f'{{"tokenizers":"{VERSION}",\n"items":[\n' + ",\n".join(items) + "\n]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("keys", nargs="*", metavar="KEY", help="only these tokenizers (or `handmade`)")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a committed file differs")
    options = parser.parse_args()
    if tokenizers.__version__ != VERSION:
        sys.exit(f"tokenizers is {tokenizers.__version__} here, the oracle is {VERSION}: run scripts/venv.sh oracle")
    entries = json.loads((HERE / "tokenizers.json").read_text(encoding="utf-8"))["tokenizers"]
    jobs = {"handmade": (HERE / "handmade.json", all_handmade)}
    jobs |= {entry["key"]: (HERE / "expected" / f"{entry['key']}.json", lambda entry=entry: real(entry)) for entry in entries}
    if unknown := [key for key in options.keys if key not in jobs]:
        sys.exit(f"unknown tokenizer {unknown[0]}; there are: {', '.join(jobs)}")
    different = []
    for key in options.keys or jobs:
        path, make = jobs[key]
        text = make()
        if options.check:
            old = path.read_text(encoding="utf-8") if path.is_file() else ""
            if text != old:
                different.append(key)
            print(f"{key}: {'as committed' if text == old else 'DIFFERENT'}", flush=True)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"{key}: {len(text.encode()):,} bytes", flush=True)
    if different:
        sys.exit(f"different from what is committed: {', '.join(different)}")


if __name__ == "__main__":
    main()
