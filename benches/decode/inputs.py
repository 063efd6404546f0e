"""Ids for the decode bench, made by the reference; and what it decodes them to, as digests.

    inputs.py TOKENIZERS TYPESCRIPT OUT KEY=SPECIAL...

TOKENIZERS holds <key>/tokenizer.json, TYPESCRIPT is that npm package: it has English prose and code, and the same messages in
thirteen languages, and its version is pinned. Into OUT go <key>-<corpus>.u32 (little endian) and <key>.json: which parts of
them are decoded for each size, and the SHA-256 over each text's byte length (u32) and UTF-8. SPECIAL stands after every 400 ids.
"""

import array
import hashlib
import json
import re
import sys
from pathlib import Path

from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
COUNT = 131072
SPECIAL_EVERY = 400
# Characters at a time in the mixed text: of English and code, and of each other language. Lists of thousands of ids are then
# partly of ASCII alone and partly not, as logged texts are, and TextDecoder takes seven times as long as for English.
PIECE, FOREIGN = 60000, 4000
# Ids of a part, and how many parts: enough of the short ones that neither caches nor branch predictors learn them.
SIZES = [(1, 256), (8, 256), (32, 256), (512, 64), (4096, 16), (32768, 4)]
BATCH = (400, 1000)
LANGUAGES = ["zh-cn", "ja", "ko", "ru", "fr"]


def prose(library):
    """The sentences of the comments in the types of the web platform; ASCII."""
    comments = re.findall(r"/\*\*(.*?)\*/", (library / "lib.dom.d.ts").read_text(encoding="utf-8"), re.S)
    lines = (re.sub(r"\s*\n\s*\* ?", "\n", comment).strip() for comment in comments)
    seen = dict.fromkeys(line for line in lines if len(line) > 60 and line.isascii())
    return "\n\n".join(seen)


def code(library):
    return "".join((library / f"lib.{name}.d.ts").read_text(encoding="utf-8") for name in ("es5", "webworker"))


def ours():
    """The many scripts, emoji and odd characters of the oracle's texts."""
    text = (HERE.parent.parent / "tests/oracle/corpus.txt").read_text(encoding="utf-8")
    text = "\n".join(line for line in text.splitlines() if line[:1] != "#" and line[:4] != "=== ")
    escape = {"z": "\u200d", "t": "\t", "s": " ", "\\": "\\"}
    return re.sub(r"\\(?:u\{(\w+)\}|(.))", lambda m: chr(int(m[1], 16)) if m[1] else escape.get(m[2], m[0]), text)


def mixed(library):
    """Pieces of everything in turn: prose, code, six more languages (one of them as JSON), the oracle's odd characters."""
    messages = {name: (library / name / "diagnosticMessages.generated.json").read_text(encoding="utf-8") for name in [*LANGUAGES, "de"]}
    foreign = ["\n".join(json.loads(messages[name]).values()) for name in LANGUAGES]
    sources = [(prose(library), PIECE), (code(library), PIECE)]
    sources += [(text, FOREIGN) for text in [messages["de"], *foreign, ours()]]
    pieces = []
    for turn in range(5):
        for source, size in sources:
            start = turn * size % max(1, len(source) - size)
            pieces.append(source[start : start + size])
    return "\n".join(pieces)


def ids_of(tokenizer, text, special):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    special = tokenizer.token_to_id(special)
    out = []
    for start in range(0, len(ids), SPECIAL_EVERY - 1):
        out += ids[start : start + SPECIAL_EVERY - 1] + [special]
    if len(out) < COUNT:
        raise SystemExit(f"the text has only {len(out)} ids")
    return out[:COUNT]


def parts(tokenizer, ids, size, count, name, batch=False):
    """Where the parts start, and the digest of their texts."""
    starts = [i * 7919 * (size + 1) % (COUNT - size) for i in range(count)]
    digest = hashlib.sha256()
    length = 0
    for text in tokenizer.decode_batch([ids[start : start + size] for start in starts], skip_special_tokens=False):
        data = text.encode()
        length += len(data)
        digest.update(len(data).to_bytes(4, "little") + data)
    return {"name": name, "ids": size, "batch": batch, "starts": starts, "bytes": length, "sha256": digest.hexdigest()}


def main():
    tokenizers, typescript, out = map(Path, sys.argv[1:4])
    library = typescript / "lib"
    corpora = {"mixed": mixed(library), "English": prose(library)}
    out.mkdir(parents=True, exist_ok=True)
    for key, special in (argument.split("=", 1) for argument in sys.argv[4:]):
        tokenizer = Tokenizer.from_file(str(tokenizers / key / "tokenizer.json"))
        manifest = {}
        for corpus, text in corpora.items():
            ids = ids_of(tokenizer, text, special)
            words = array.array("I", ids)
            if sys.byteorder == "big":
                words.byteswap()
            (out / f"{key}-{corpus}.u32").write_bytes(words.tobytes())
            sizes = [parts(tokenizer, ids, size, count, str(size)) for size, count in SIZES]
            manifest[corpus] = [*sizes, parts(tokenizer, ids, *BATCH, f"{BATCH[1]} x {BATCH[0]}", batch=True)]
        (out / f"{key}.json").write_text(json.dumps(manifest))


main()
