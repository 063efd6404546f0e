"""Hand-made tokenizers: every decoder, model and rule that no shipped tokenizer.json shows.

`build()` gives them with the ids to decode; `generate.py` asks the reference for the texts and writes
handmade.json. A `said` text is what our notes say the reference gives; generate.py fails when it gives
another. Vocabularies written as a list have ids 0, 1, 2, ...
"""

import base64
import json
import struct

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
FUSE = {"type": "Fuse"}
BYTE_FALLBACK = {"type": "ByteFallback"}
UNDERLINE = {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}
STRIP_ONE = {"type": "Strip", "content": " ", "start": 1, "stop": 0}


def sequence(*decoders):
    return {"type": "Sequence", "decoders": list(decoders)}


def strip(content, start, stop):
    return {"type": "Strip", "content": content, "start": start, "stop": stop}


def replace(pattern, content, kind="String"):
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def word_piece(cleanup, prefix="##"):
    return {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup}


def metaspace(scheme=None, replacement="▁", **extra):
    return {"type": "Metaspace", "replacement": replacement, **({"prepend_scheme": scheme} if scheme else {}), **extra}


def ctc(cleanup, pad="<pad>", delimiter="|"):
    return {"type": "CTC", "pad_token": pad, "word_delimiter_token": delimiter, "cleanup": cleanup}


SPM3 = sequence(UNDERLINE, BYTE_FALLBACK, FUSE)
SPM4 = sequence(UNDERLINE, BYTE_FALLBACK, FUSE, STRIP_ONE)
BF = sequence(BYTE_FALLBACK, FUSE)


def added(content, id, flags="", **extra):
    """`flags`: s special, n normalized."""
    return {
        "id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
        "normalized": "n" in flags, "special": "s" in flags, **extra,
    }  # fmt: skip


def vocab_of(tokens):
    return tokens if isinstance(tokens, dict) else {token: id for id, token in enumerate(tokens)}


def tokenizer(tokens, added_tokens=(), decoder=None, normalizer=None, model="WordLevel", **extra):
    vocab = vocab_of(tokens)
    models = {
        "WordLevel": {"type": "WordLevel", "vocab": vocab, "unk_token": "[UNK]"},
        "WordPiece": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                      "max_input_chars_per_word": 100, "vocab": vocab},
        "BPE": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "vocab": vocab, "merges": []},
        "Unigram": {"type": "Unigram", "unk_id": 0, "vocab": [[token, -float(id)] for token, id in vocab.items()],
                    "byte_fallback": False},
    }  # fmt: skip
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": list(added_tokens),
        "normalizer": normalizer, "pre_tokenizer": None, "post_processor": None, "decoder": decoder,
        "model": models[model], **extra,
    }  # fmt: skip


def text_of(value, **edits):
    text = json.dumps(value, ensure_ascii=False)
    for old, new in edits.values():
        assert old in text, old
        text = text.replace(old, new)
    return text


def charsmap(pairs):
    """A Precompiled normalizer's map: a double-array trie (one 256-unit block per node) and its texts."""
    texts, units, free = b"", {}, [0]
    trie = {}
    for key, value in pairs.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = len(texts)
        texts += value.encode() + b"\0"

    def place(node, position, label):
        free[0] += 256
        base = free[0]
        offset = position ^ base
        packed = (offset >> 8) << 10 | 1 << 9 if offset & 0xFF == 0 and offset >= 1 << 21 else offset << 10
        units[position] = packed | label | (1 << 8 if None in node else 0)
        if None in node:
            units[base] = node[None] | 1 << 31
        for byte, child in node.items():
            if byte is not None:
                place(child, base ^ byte, byte)

    place(trie, 0, 0)
    blob = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(free[0] + 256))
    return base64.b64encode(struct.pack("<I", len(blob)) + blob + texts).decode()


class Book:
    """Collects the hand-made tokenizers."""

    def __init__(self):
        self.items = []

    def add(self, name, value, cases=(), trap=None, error=False, random=0, either=False,
            differs=None):  # fmt: skip
        """`value`: the tokenizer, its text or its bytes. `cases`: (ids, skip, said or None). `error`: must not
        load. `random`: how many generated id lists are added. `either`: the reference's hash order decides.
        `differs`: why we differ here, on purpose."""
        assert name not in {item["name"] for item in self.items}, name
        self.items.append(
            {"name": name, "trap": trap, "value": value, "cases": list(cases), "error": error, "random": random,
             "either": either, "differs": differs}
        )  # fmt: skip


def build():
    book = Book()
    ids_and_added_tokens(book)
    normalized_tokens(book)
    byte_level(book)
    byte_fallback(book)
    sentencepiece(book)
    other_decoders(book)
    structure(book)
    models(book)
    return book.items


def ids_and_added_tokens(book):
    no, yes = False, True
    book.add("unknown-ids", tokenizer("ab", decoder=FUSE), [([0, 99, 1], no, "ab"), ([], no, ""), ([99], no, ""),
             ([4294967295, 0], no, "a")], trap=1, random=4)  # fmt: skip
    book.add("added-id-ignored", tokenizer("ab", [added("<X>", 10, "s"), added("<Y>", 20)], FUSE),
             [([2], no, "<X>"), ([3], no, "<Y>"), ([10], no, ""), ([20], no, ""), ([2, 3, 10, 0], yes, "<Y>a")],
             trap=2, random=4)  # fmt: skip
    book.add("added-overwrites-after-hole", tokenizer({"a": 0, "b": 1, "c": 3}, [added("<X>", 9, "s")], FUSE),
             [([3], no, "<X>"), ([0, 1, 2, 3, 4, 9], no, None), ([3], yes, "")], trap=3, random=4)  # fmt: skip
    book.add("added-in-hole", tokenizer({"a": 0, "b": 1, "<s>": 5}, [added("<s>", 5, "s"), added("<Y>", 6, "s")], FUSE),
             [([3], no, "<Y>"), ([5], no, "<s>"), ([6], no, ""), ([0, 5, 3, 1], yes, "ab")], trap=3, random=4)
    book.add("added-many-over-holes", tokenizer({"a": 0, "b": 4, "c": 6, "d": 9},
             [added("<1>", 1), added("<2>", 2, "s"), added("b", 3, "s"), added("<4>", 4), added("<5>", 5)], FUSE),
             [(list(range(14)), no, None), (list(range(14)), yes, None)], trap=3, random=6)  # fmt: skip
    book.add("added-below-vocab", tokenizer("abc", [added("<X>", 1, "s")], FUSE),
             [([1], no, "b"), ([3], no, "<X>"), ([1, 3], yes, "b")], trap=4, random=4)  # fmt: skip
    book.add("added-known-content", tokenizer(["a", "<X>"], [added("<X>", 7, "s")], FUSE),
             [([1], no, "<X>"), ([7], no, ""), ([0, 1, 7], yes, "a")], trap=5, random=4)  # fmt: skip
    book.add("added-same-id", tokenizer("a", [added("<X>", 1, "s"), added("<Y>", 1)], FUSE),
             [([1], no, "<X>"), ([2], no, "<Y>"), ([1, 2], yes, "<Y>")], trap=6, random=4)  # fmt: skip
    book.add("added-empty-content", tokenizer("a", [added("", 1, "s"), added("<X>", 2, "s")], FUSE),
             [([1], no, "<X>"), ([2], no, "")], trap=7, random=4)  # fmt: skip
    book.add("added-empty-content-in-vocab", tokenizer(["a", "", "b"], [added("", 1, "s")], None),
             [([0, 1, 2], no, None), ([0, 1, 2], yes, None)], trap=7)  # fmt: skip
    book.add("added-twice-later-special", tokenizer("a", [added("<X>", 1), added("<X>", 2, "s")], FUSE),
             [([0, 1, 2], yes, "a"), ([0, 1, 2], no, None)], trap=8)  # fmt: skip
    book.add("added-twice-earlier-special", tokenizer("a", [added("<X>", 1, "s"), added("<X>", 2)], FUSE),
             [([0, 1, 2], yes, None), ([0, 1, 2], no, None)], trap=8)  # fmt: skip
    book.add("added-twice-then-another", tokenizer("a", [added("<X>", 1), added("<X>", 2, "s"), added("<Y>", 3)], FUSE),
             [([0, 1, 2, 3], no, None), ([0, 1, 2, 3], yes, None)], trap=8)  # fmt: skip
    book.add("added-twice-normalized", tokenizer("a", [added("HEY", 1, "s"), added("HEY", 2, "n")], FUSE,
             {"type": "Lowercase"}), [([0, 1, 2], no, None), ([0, 1, 2], yes, None)], trap=8)  # fmt: skip
    for field in ("id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"):
        token = added("<X>", 1, "s")
        del token[field]
        book.add(f"added-without-{field}", tokenizer("a", [token], FUSE), [([0, 1], no, None)], trap=9,
                 error=True)  # fmt: skip
    book.add("added-with-unknown-field", tokenizer("a", [added("<X>", 1, "s", note=3)], FUSE), [([0, 1], yes, None)],
             trap=9)  # fmt: skip
    book.add("added-id-negative", tokenizer("a", [added("<X>", -1)], FUSE), trap=9, error=True)
    book.add("added-id-float", text_of(tokenizer("a", [added("<X>", 1.0)], FUSE)), trap=9, error=True)
    book.add("added-id-too-big", tokenizer("a", [added("<X>", 2**32)], FUSE), trap=9, error=True)
    book.add("added-special-not-bool", tokenizer("a", [added("<X>", 1, special=1)], FUSE), trap=9, error=True)
    book.add("added-file-order", tokenizer("a", [added("<Y>", 2, "s"), added("<X>", 1, "s")], FUSE),
             [([1], no, "<Y>"), ([2], no, "<X>")], trap=10)  # fmt: skip
    book.add("added-strip-flags", tokenizer("ab", [added("<X>", 2, "s", lstrip=True, rstrip=True, single_word=True)],
             BYTE_LEVEL), [([0, 2, 1], no, None), ([0, 2, 1], yes, None)], trap=11)  # fmt: skip
    book.add("added-wins-over-base", tokenizer({"a": 0, "Ġb": 2}, [added("Ġx", 5)], BYTE_LEVEL),
             [([0, 2], no, "a x"), ([2], no, None)], trap=12)  # fmt: skip
    book.add("vocab-id-twice", text_of(tokenizer({"a": 0, "b": 1, "c": 2}, decoder=FUSE), same=('"c": 2', '"c": 1')),
             [([0, 1], no, "ac")], trap=13, either=True)  # fmt: skip
    book.add("vocab-key-twice", text_of(tokenizer({"a": 0, "b": 1}, decoder=FUSE), same=('"b": 1', '"a": 1')),
             [([0], no, ""), ([1], no, "a"), ([0, 1], no, "a")], trap=13)  # fmt: skip
    book.add("vocab-key-twice-then-added", text_of(tokenizer({"a": 0, "b": 1}, [added("<X>", 7)], FUSE),
             same=('"b": 1', '"a": 1')), [([0, 1, 2, 7], no, None)], trap=13)  # fmt: skip
    book.add("skip-compares-text", tokenizer("x", [added("a", 1, "s"), added("A", 2, "n")], FUSE,
             {"type": "Lowercase"}), [([0, 1, 2, 0], yes, "xx"), ([0, 1, 2, 0], no, "xaax")], trap=14)  # fmt: skip
    book.add("base-token-equals-special", tokenizer({"a": 0, "<s>": 1, "b": 2}, [added("<s>", 1, "s")], FUSE),
             [([0, 1, 2], yes, "ab"), ([0, 1, 2], no, "a<s>b")], trap=14, random=2)  # fmt: skip
    book.add("special-tokens-around", tokenizer(["Ġa", "b"], [added("<s>", 2, "s"), added("<t>", 3)], BYTE_LEVEL),
             [([2, 0, 3, 1, 2], no, None), ([2, 0, 3, 1, 2], yes, None), ([2], yes, ""), ([2, 2], yes, "")], random=4)
    book.add("added-only", tokenizer([], [added("<a>", 0), added("<b>", 1, "s")], FUSE),
             [([0, 1], no, None), ([0, 1], yes, None)], random=2)  # fmt: skip
    book.add("no-added-tokens-key", {k: v for k, v in tokenizer("ab", decoder=FUSE).items() if k != "added_tokens"},
             [([0, 1], no, "ab")])  # fmt: skip
    book.add("added-tokens-null", tokenizer("ab", decoder=FUSE) | {"added_tokens": None}, error=True)
    book.add("added-unicode-escapes", text_of(tokenizer(["QQ"], [added("RR", 1)], FUSE),
             a=('"QQ"', r'"\u00e9\ud83d\ude00\n\/\t\"\\"'), b=('"RR"', r'"\ud83d\ude00<\u0041>"')),
             [([0, 1], no, None)], trap=34)  # fmt: skip


NORMALIZERS = {
    "lowercase": {"type": "Lowercase"},
    "nfc": {"type": "NFC"},
    "nfd": {"type": "NFD"},
    "nfkc": {"type": "NFKC"},
    "nfkd": {"type": "NFKD"},
    "nmt": {"type": "Nmt"},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "strip-left": {"type": "Strip", "strip_left": True, "strip_right": False},
    "strip-accents": {"type": "StripAccents"},
    "nfd-strip-accents": {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
    "bert": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
             "lowercase": True},
    "bert-cased": {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": False,
                   "strip_accents": True, "lowercase": False},
    "prepend": {"type": "Prepend", "prepend": "▁"},
    "replace": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    "replace-regex": {"type": "Replace", "pattern": {"Regex": " {2,}|[A-C]+"}, "content": "."},
    "replace-empty": {"type": "Replace", "pattern": {"String": ""}, "content": "-"},
    "byte-level": {"type": "ByteLevel"},
    "empty-sequence": {"type": "Sequence", "normalizers": []},
    "sequence": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Lowercase"},
                 {"type": "Replace", "pattern": {"String": "x"}, "content": "<x>"}]},
    "precompiled": {"type": "Precompiled", "precompiled_charsmap": charsmap(
        {"Ａ": "A", "ﬁ": "fi", "Å": "Å", "É": "É", "ſ": "s", "™": "TM", "\t": " ", "A": "aa"})},
    "llama": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
              {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
}  # fmt: skip


def normalized_tokens(book):
    no, yes = False, True
    lower = {"type": "Lowercase"}
    book.add("normalized-lowercase", tokenizer("a", [added("HELLO", 1, "n")], FUSE, lower),
             [([1], no, "hello"), ([0, 1], yes, "ahello")], trap=15)  # fmt: skip
    llama = NORMALIZERS["llama"]
    book.add("normalized-llama-prepend", tokenizer(["▁a"], [added("<foo bar>", 1, "n")], SPM4, llama),
             [([0, 1, 0], no, "a <foo bar> a"), ([1, 0], no, "<foo bar> a")], trap=16)  # fmt: skip
    book.add("normalized-special", tokenizer("a", [added("HELLO", 1, "sn")], FUSE, lower),
             [([0, 1], yes, "ahello"), ([0, 1], no, "ahello")], trap=17)  # fmt: skip
    book.add("normalized-byte-level", tokenizer(["a"], [added("é x", 1, "n")], BYTE_LEVEL, {"type": "ByteLevel"}),
             [([1], no, "é x"), ([0, 1, 0], no, "aé xa")], trap=18)  # fmt: skip
    tokens = [added(content, 1, "n") for content in
              ("ABC", "É", "E\u0301", "ﬁ x", " two  spaces ", "\t tab\n", "北京 ok", "Ａ™ſ", "\u200b\u0000z", "x")]
    for name, normalizer in NORMALIZERS.items():
        ids = list(range(len(tokens) + 1))
        book.add(f"normalizer-{name}", tokenizer(["▁w"], tokens + [added("SPECIAL É", 1, "s"), added("Both É", 1, "sn")],
                 FUSE, normalizer), [([id], no, None) for id in ids[1:]] + [(ids + [11, 12], no, None),
                 (ids + [11, 12], yes, None)], trap=15)  # fmt: skip
    book.add("normalized-no-normalizer", tokenizer("a", [added("HELLO É", 1, "n")], FUSE), [([1], no, "HELLO É")],
             trap=15)  # fmt: skip
    book.add("not-normalized-with-normalizer", tokenizer("a", [added("HELLO É", 1)], FUSE, lower),
             [([1], no, "HELLO É")], trap=15)  # fmt: skip
    book.add("normalized-to-empty", tokenizer("a", [added("  ", 1, "n"), added("<b>", 2)], None,
             NORMALIZERS["strip"]), [([0, 1, 2], no, None), ([1], no, None)], trap=15)  # fmt: skip
    book.add("normalized-base-token", tokenizer(["a", "HEY"], [added("HEY", 1, "n")], FUSE, lower),
             [([0, 1], no, None), ([0, 1], yes, None)], trap=15)  # fmt: skip
    book.add("normalized-two-to-one", tokenizer("a", [added("HEY", 1, "n"), added("hey", 2, "s"), added("Hey", 3, "n")],
             FUSE, lower), [([0, 1, 2, 3], no, None), ([0, 1, 2, 3], yes, None)], trap=14)  # fmt: skip
    unread = "a normalizer that no added token needs is not read"
    broken = {"type": "Replace", "pattern": {"Regex": "("}, "content": ""}
    for name, normalizer in (("unknown", {"type": "Shout"}), ("bad-regex", broken)):
        book.add(f"normalizer-{name}", tokenizer("a", [], FUSE, normalizer), trap=15, error=True, differs=unread)
        book.add(f"normalizer-{name}-needed", tokenizer("a", [added("<X>", 1, "n")], FUSE, normalizer), trap=15,
                 error=True)  # fmt: skip
    book.add("normalizer-regex-classes", tokenizer("a", [added("Ab 12\u0663 é_", 1, "n"), added("aaa", 1, "n")], FUSE,
             {"type": "Replace", "pattern": {"Regex": r"\d+|\p{Lu}|(?<=a)a"}, "content": "*"}),
             [([1], no, None), ([2], no, None)], trap=15)  # fmt: skip


def alphabet():
    """The byte-level alphabet: the character of each of the 256 bytes."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return table


def byte_level(book):
    no, yes = False, True
    char = alphabet()
    spell = lambda data: "".join(char[byte] for byte in data)  # noqa: E731
    book.add("byte-level-alphabet", tokenizer([char[byte] for byte in range(256)], decoder=BYTE_LEVEL, model="BPE"),
             [([0xC3, 0xA9], no, None), (list("é 日本 😀\n\0".encode()), no, None), (list(range(256)), no, None),
              ([0xEF, 0xBB, 0xBF, 0x61], no, "\ufeffa"), ([0xF0, 0x9F, 0x98], no, "\ufffd"),
              ([0x80], no, "\ufffd"), ([0x80, 0x80, 0x80], no, "\ufffd" * 3), ([0xC0, 0x80], no, "\ufffd" * 2),
              ([0xED, 0xA0, 0x80], no, "\ufffd" * 3), ([0xF5, 0x80, 0x80, 0x80], no, "\ufffd" * 4),
              ([0xE2, 0x82, 0x41, 0xE2, 0x82, 0xAC], no, None), ([0xF4, 0x90, 0x80, 0x80], no, None),
              ([0xE0, 0x80, 0x80], no, None), ([0xF0, 0x80, 0x80, 0x80], no, None), ([0xEF, 0xBB, 0xBF], no, None),
              ([0x61, 0xEF, 0xBB, 0xBF], no, None), ([0xEF, 0xBB], no, None)], trap=[21, 22], random=30)  # fmt: skip
    book.add("byte-level-outside-alphabet", tokenizer(["a", "日本", "Ġ é"], decoder=BYTE_LEVEL),
             [([1, 2, 0], no, "日本Ġ éa"), ([2, 1], no, None)], trap=19, random=4)  # fmt: skip
    book.add("byte-level-added", tokenizer(["a"], [added(t, 9) for t in
             ("ilÖveyou", "đem", "Ġx", "é x", "<｜User｜>", "č", "õ", "Ã", "", " ", "Ċ", "ń", "Ń", "ł")], BYTE_LEVEL),
             [([1], no, "il\ufffdveyou"), ([2], no, "\x11em"), ([3], no, " x"), ([4], no, "é x"),
              ([5], no, "<｜User｜>"), ([6], no, "\r"), ([7], no, "\ufffd"), (list(range(15)), no, None)],
             trap=20, random=6)  # fmt: skip
    book.add("byte-level-half-characters", tokenizer(["Ã", "©"], [added("<s>", 2, "s"), added("<t>", 3)], BYTE_LEVEL),
             [([0, 2, 1], yes, "é"), ([0, 2, 1], no, "\ufffd<s>\ufffd"), ([0, 77, 1], no, "é"),
              ([0, 3, 1], yes, None), ([0], no, None), ([1, 0], no, None)], trap=21, random=6)  # fmt: skip
    book.add("byte-level-pieces", tokenizer([spell(p) for p in (b"\xf0", b"\x9f", b"\x98", b"\x80", b" \xf0\x9f",
             b"\x98\x80a", b"\xe6\x97", b"\xa5\xe6", b"\x9c\xac", b"a", b"\xef\xbf\xbd", b"\xc3")],
             [added("<s>", 12, "s"), added("\ufffd", 13)], BYTE_LEVEL),
             [([4, 5], no, None), ([0, 1, 2, 3], no, None), ([6, 7, 8], no, None), ([10, 9], no, None)],
             trap=21, random=30)  # fmt: skip
    for name, decoder in (
        ("no-use-regex", {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}),
        ("all-false", {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}),
        ("extra-option", {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "more": [1, {"a": 2}]}),
    ):
        book.add(f"byte-level-{name}", tokenizer(["Ġa", "b"], decoder=decoder), [([0, 1, 0], no, None)], trap=23)
    for name, options in (
        ("no-options", {}),
        ("no-trim-offsets", {"add_prefix_space": True}),
        ("no-prefix-space", {"trim_offsets": True, "use_regex": True}),
        ("null-option", {"add_prefix_space": None, "trim_offsets": True}),
        ("text-option", {"add_prefix_space": "no", "trim_offsets": True}),
    ):
        book.add(f"byte-level-{name}", tokenizer("a", decoder={"type": "ByteLevel", **options}), trap=23, error=True)
    sentence = ["Ã", "©", "a", "Ġ"]
    book.add("byte-level-then-replace", tokenizer(sentence, decoder=sequence(BYTE_LEVEL, replace("é", "E"))),
             [([0, 1, 2], no, "Ea"), ([2, 0, 1, 0, 1], no, None), ([0], no, None)], trap=24, random=4)  # fmt: skip
    book.add("byte-level-then-strip", tokenizer(sentence, decoder=sequence(BYTE_LEVEL, strip(" ", 1, 1))),
             [([3, 2, 3], no, "a"), ([3, 3, 2], no, None), ([2, 3, 2], no, None)], trap=24, random=4)  # fmt: skip
    book.add("byte-level-twice", tokenizer(sentence, decoder=sequence(BYTE_LEVEL, BYTE_LEVEL)),
             [([0, 1, 2, 3], no, None)], trap=24, random=4)  # fmt: skip
    book.add("byte-level-in-sequence", tokenizer(sentence, [added("日本 x", 4)], sequence(BYTE_LEVEL)),
             [([0, 1, 2, 3, 4], no, None)], trap=24, random=4)  # fmt: skip
    book.add("byte-level-after-fuse", tokenizer(sentence, [added("日本 x", 4)], sequence(FUSE, BYTE_LEVEL)),
             [([0, 1, 2, 3], no, None), ([0, 1, 2, 3, 4], no, None)], trap=24, random=4)  # fmt: skip
    book.add("byte-level-after-replace", tokenizer(sentence, decoder=sequence(replace("Ã", "Ġ"), BYTE_LEVEL)),
             [([0, 1, 2, 3], no, None)], trap=24, random=4)  # fmt: skip
    book.add("byte-level-then-fallback", tokenizer(["<0x41>", "a"], decoder=sequence(BYTE_LEVEL, BYTE_FALLBACK)),
             [([0], no, None), ([0, 1], no, None), ([0, 0], no, None)], trap=24)  # fmt: skip


def byte_fallback(book):
    no, yes = False, True
    odd = ["<0x61>", "<0xE5>", "b", "<0xe5>", "<0x+A>", "<0xGG>", "<0x1>", "<0x8F>", "<0xAB>", "<0x-1>", "<0x 1>",
           "<0X41>", "<0x41> ", "<0x041>", "é", "<0xé>", "<0x00>", "<0xEF>", "<0xBB>", "<0xBF>", "<0x++>", "<0xFf>",
           "<0x+é", "▁", "", "<0xC3>", "<0xA9>"]  # fmt: skip
    for name, decoder in (("fused", BF), ("alone", BYTE_FALLBACK), ("in-sequence", sequence(BYTE_FALLBACK)),
                          ("joined", sequence(BYTE_FALLBACK, replace("é", "E")))):  # fmt: skip
        book.add(f"byte-fallback-{name}", tokenizer(odd, [added("<s>", 99, "s"), added("<0x41>", 99),
                 added("<0x42>", 99, "s")], decoder, model="BPE"),
                 [([0, 0, 1, 2], no, "\ufffd\ufffd\ufffdb"), ([3], no, "\ufffd"), ([4], no, "\n"), ([5], no, "<0xGG>"),
                  ([6], no, "<0x1>"), ([28], no, "A"), ([1, 7, 8], no, None), ([1, 7], no, None),
                  ([25, 99, 26], no, None), ([25, 27, 26], no, None), ([25, 27, 26], yes, None),
                  ([25, 29, 26], yes, None), ([17, 18, 19, 2], no, None), ([2, 25], no, None), ([20], no, None),
                  ([9], no, None), ([10], no, None), ([21], no, None), ([22], no, None), ([24, 25, 24, 26], no, None),
                  ([0, 24, 0], no, None), ([16], no, None)]
                 + [([id], no, None) for id in range(11, 16)], trap=[25, 26], random=40)  # fmt: skip
    halves = ["<0xC3>", "<0xA9>"]
    book.add("byte-fallback-special-between", tokenizer(halves, [added("<s>", 2, "s")], BF),
             [([0, 2, 1], no, "\ufffd<s>\ufffd"), ([0, 2, 1], yes, "é"), ([0, 9, 1], no, "é"), ([0], no, None),
              ([1, 0, 1], no, None), ([0, 1, 0], no, None)], trap=27, random=8)  # fmt: skip
    book.add("byte-fallback-added-byte", tokenizer(["a"], [added("<0x41>", 1)], BF), [([1], no, "A"), ([0, 1], no, "aA")],
             trap=28)  # fmt: skip
    book.add("byte-fallback-strip", tokenizer(["<0x20>", "a"], decoder=sequence(BYTE_FALLBACK, FUSE, STRIP_ONE)),
             [([0, 1], no, "a"), ([0, 0, 1], no, None), ([0], no, None)], trap=29, random=4)  # fmt: skip
    book.add("byte-fallback-strip-no-fuse", tokenizer(["<0x20>", "a", " b"], decoder=sequence(BYTE_FALLBACK, STRIP_ONE)),
             [([0, 1], no, None), ([0, 0, 1], no, None), ([1, 2, 0, 2], no, None)], trap=29, random=4)  # fmt: skip
    book.add("byte-fallback-replace-makes-bytes", tokenizer(["<0x*1>", "a"], decoder=sequence(replace("*", "4"),
             BYTE_FALLBACK, FUSE)), [([0, 1], no, None)], trap=25)  # fmt: skip


def sentencepiece(book):
    no, yes = False, True
    tokens = ["▁▁▁a", "▁Hello", "▁", "b", "<0x20>", "<0xE2>", "<0x96>", "<0x81>", "x▁y", "▁▁", "<0x0A>", "▁world", ""]
    specials = [added("<s>", 0, "s"), added("</s>", 0, "s"), added("<t>", 0), added("▁▁▁▁", 0), added(" ", 0)]
    for name, decoder in (("spm3", SPM3), ("spm4", SPM4)):
        book.add(name, tokenizer(tokens, specials, decoder, model="BPE"),
                 [([0], no, "  a" if name == "spm4" else "   a"), ([13, 1], no, "<s> Hello"),
                  ([13, 1], yes, "Hello" if name == "spm4" else " Hello"), ([1, 11], no, None), ([8], no, "x y"),
                  ([5, 6, 7, 3], no, None), ([4, 3], no, None), ([99, 1], no, None), ([2, 2, 3], no, None),
                  ([16, 3], no, None), ([17, 3], no, None), ([12, 1], no, None), ([10, 10, 3], no, None)],
                 trap=[30 if name == "spm4" else 31, 32], random=40)  # fmt: skip
    for name, decoder in (
        ("order-fallback-first", sequence(BYTE_FALLBACK, UNDERLINE, FUSE, STRIP_ONE)),
        ("strip-before-fuse", sequence(UNDERLINE, BYTE_FALLBACK, STRIP_ONE, FUSE)),
        ("no-fuse", sequence(UNDERLINE, BYTE_FALLBACK)),
        ("fuse-first", sequence(FUSE, UNDERLINE, BYTE_FALLBACK, STRIP_ONE)),
        ("strip-two", sequence(UNDERLINE, BYTE_FALLBACK, FUSE, strip(" ", 2, 0))),
        ("strip-both-ends", sequence(UNDERLINE, BYTE_FALLBACK, FUSE, strip(" ", 1, 1))),
        ("strip-other", sequence(UNDERLINE, BYTE_FALLBACK, FUSE, strip("b", 1, 0))),
        ("replace-other", sequence(replace("▁", "_"), BYTE_FALLBACK, FUSE, STRIP_ONE)),
        ("replace-with-nothing", sequence(replace("▁", ""), BYTE_FALLBACK, FUSE, STRIP_ONE)),
        ("replace-twice", sequence(UNDERLINE, replace("  ", "\t"), BYTE_FALLBACK, FUSE)),
        ("replace-fuse", sequence(UNDERLINE, FUSE)),
        ("nested", sequence(sequence(UNDERLINE, BYTE_FALLBACK), sequence(FUSE, STRIP_ONE))),
        ("replace-after-fuse", sequence(FUSE, replace("▁w", " W"))),
    ):
        book.add(f"spm-{name}", tokenizer(tokens, specials, decoder),
                 [([13, 1, 11], no, None), ([1, 11, 2], no, None), ([5, 6, 7, 3], no, None), ([2, 2, 11, 3], no, None)],
                 random=12)  # fmt: skip
    pieces = ["▁▁d▁e", "a", "▁b", "▁", "▁▁", "c▁", ""]
    meta_specials = [added("<s>", 0, "s"), added("<t▁t>", 0), added("▁▁", 0)]
    for name, decoder in (
        ("first", metaspace("first")),
        ("always", metaspace("always")),
        ("never", metaspace("never")),
        ("no-scheme", metaspace()),
        ("no-scheme-prefix-true", metaspace(add_prefix_space=True)),
        ("no-scheme-prefix-true-str-rep", metaspace(add_prefix_space=True, str_rep="▁")),
        ("never-prefix-false", metaspace("never", add_prefix_space=False)),
        ("never-prefix-true", metaspace("never", add_prefix_space=True)),
        ("first-split-false", metaspace("first", split=False)),
        ("always-split-true", metaspace("always", split=True)),
        ("other-replacement", metaspace("always", "d")),
        ("fuse-before", sequence(FUSE, metaspace("always"))),
        ("fuse-after", sequence(metaspace("always"), FUSE)),
        ("twice", sequence(metaspace("first"), metaspace("first"))),
        ("strip-after", sequence(metaspace("always"), STRIP_ONE)),
    ):
        said = {"first": "de", "always": "de", "fuse-before": "de"}.get(name)
        book.add(f"metaspace-{name}", tokenizer(pieces, meta_specials, decoder, model="Unigram"),
                 [([0], no, said), ([1, 2], no, None), ([2, 2], no, None), ([7, 2, 2], no, None),
                  ([7, 2, 2], yes, None), ([99, 2, 2], no, None), ([3, 2], no, None), ([6, 2, 2], no, None),
                  ([8, 2], no, None), ([9, 2], no, None), ([4, 5, 4], no, None)], trap=33, random=20)  # fmt: skip
    book.add("metaspace-specials-protect", tokenizer(["▁a", "▁b"], [added("<s>", 0, "s")], metaspace("always")),
             [([2, 0, 1], no, "<s> a b"), ([2, 0, 1], yes, "a b"), ([99, 0, 1], no, "a b")], trap=33)  # fmt: skip
    book.add("metaspace-prefix-false-no-scheme", tokenizer("a", decoder=metaspace(add_prefix_space=False)), trap=33,
             error=True)  # fmt: skip
    book.add("metaspace-prefix-false-always", tokenizer("a", decoder=metaspace("always", add_prefix_space=False)),
             trap=33, error=True)  # fmt: skip
    book.add("metaspace-null-scheme", tokenizer("a", decoder=metaspace() | {"prepend_scheme": None}), trap=33, error=True)
    book.add("metaspace-two-chars", tokenizer("a", decoder=metaspace("always", "▁▁")), trap=33, error=True)
    book.add("metaspace-no-replacement", tokenizer("a", decoder={"type": "Metaspace", "prepend_scheme": "always"}),
             trap=33, error=True)  # fmt: skip
    book.add("metaspace-empty-replacement", tokenizer("a", decoder=metaspace("always", "")), trap=33, error=True)
    book.add("metaspace-unknown-scheme", tokenizer("a", decoder=metaspace("sometimes")), trap=33, error=True)


def other_decoders(book):
    no, yes = False, True
    words = ["##uelo", "Ara", "##új", "No", ".", "?", "'", "s", "do", "not", "n't", " .", "##", "a##b", "!", ",",
             "'m", "'s", "'ve", "'re", " n't", "# #", "####x", "", " do not", "it", " '", "##'s"]  # fmt: skip
    specials = [added("[CLS]", 0, "s"), added("##add", 0), added(" !", 0)]
    cls = len(words)
    book.add("word-piece-cleanup", tokenizer(words, specials, word_piece(True), model="WordPiece"),
             [([0, 1, 2, 3], no, "##uelo Araúj No"), ([1, 4, 3, 5], no, "Ara. No?"), ([1, 6, 7], no, "Ara ' s"),
              ([1, 8, 9], no, "Ara do not"), ([8, 10], no, "don't"), ([11], no, "."), ([cls, 0, 1], yes, "##uelo Ara"),
              ([cls, 0, 1], no, "[CLS]uelo Ara"), ([24, 24], no, None), ([25, 17, 18, 19, 16], no, None),
              ([1, 26, 26], no, None), ([1, 27], no, None), ([99, 0, 0], no, None), ([12, 12, 13, 22, 21], no, None)],
             trap=35, random=40)  # fmt: skip
    book.add("word-piece-no-cleanup", tokenizer(words, specials, word_piece(False), model="WordPiece"),
             [([0, 1, 2, 3], no, None), ([1, 4, 3, 5], no, "Ara . No ?"), ([cls, 0, 1], yes, None)],
             trap=35, random=40)  # fmt: skip
    book.add("word-piece-other-prefix", tokenizer(words, specials, word_piece(True, "#")), [([0, 12, 22], no, None)],
             trap=35, random=12)  # fmt: skip
    book.add("word-piece-empty-prefix", tokenizer(words, specials, word_piece(True, "")), [([0, 12, 22], no, None)],
             trap=35, random=12)  # fmt: skip
    book.add("word-piece-in-sequence", tokenizer(words, specials, sequence(word_piece(True), replace("A", "a"))),
             trap=35, random=12)  # fmt: skip
    book.add("word-piece-after-fuse", tokenizer(words, specials, sequence(FUSE, word_piece(True))), trap=35, random=12)
    for key in ("prefix", "cleanup"):
        decoder = word_piece(True)
        del decoder[key]
        book.add(f"word-piece-without-{key}", tokenizer("a", decoder=decoder), [([0, 0], no, None)], error=True)
    subwords = ["hel", "lo</w>", "wor", "ld</w>", "a</w>b", "</w>", "x</w></w>", ""]
    book.add("bpe-decoder", tokenizer(subwords, [added("<s>", 0, "s"), added("</w>t", 0)],
             {"type": "BPEDecoder", "suffix": "</w>"}, model="BPE"),
             [([0, 1, 2, 3], no, "hello world"), ([4], no, "ab"), ([4, 4], no, "a bab"), ([], no, ""), ([5], no, None),
              ([1, 99], no, None), ([1, 8], no, None), ([1, 8], yes, None)], trap=36, random=20)  # fmt: skip
    book.add("bpe-decoder-a-b", tokenizer(["a</w>b", "c"], decoder={"type": "BPEDecoder", "suffix": "</w>"}),
             [([0, 1], no, "a bc")], trap=36)  # fmt: skip
    book.add("bpe-decoder-empty-suffix", tokenizer(subwords, decoder={"type": "BPEDecoder", "suffix": ""}),
             [([0, 1], no, None), ([0], no, None)], trap=36, random=6)  # fmt: skip
    book.add("bpe-decoder-no-suffix", tokenizer(subwords, decoder={"type": "BPEDecoder"}), [([0, 1], no, None)],
             trap=36, error=True)  # fmt: skip
    book.add("bpe-decoder-after-fuse", tokenizer(subwords, decoder=sequence(FUSE, {"type": "BPEDecoder",
             "suffix": "</w>"})), trap=36, random=6)  # fmt: skip
    book.add("bpe-decoder-then-strip", tokenizer(subwords, decoder=sequence({"type": "BPEDecoder", "suffix": "</w>"},
             strip(" ", 0, 1))), trap=36, random=6)  # fmt: skip
    letters = ["<pad>", "|", "h", "e", "l", "o", "<pad>x", ".", " .", "'", "s", "n't", "||", "a|b", ""]
    ctc_specials = [added("<s>", 0, "s"), added("h", 2)]
    for name, decoder in (("cleanup", ctc(True)), ("no-cleanup", ctc(False)), ("other-names", ctc(True, "e", "l")),
                          ("empty-names", ctc(True, "", "")), ("then-fuse", sequence(ctc(True), FUSE)),
                          ("after-replace", sequence(replace("e", "h"), ctc(True)))):  # fmt: skip
        said = {"cleanup": "hello o", "no-cleanup": "hello|o"}.get(name)
        book.add(f"ctc-{name}", tokenizer(letters, ctc_specials, decoder),
                 [([2, 2, 3, 4, 0, 4, 5, 5, 1, 5], no, said), ([6], no, "x" if said else None), ([4, 99, 4], no, None),
                  ([4, 15, 4], no, None), ([4, 15, 4], yes, None), ([1], no, None), ([0], no, ""
                  if said else None), ([12, 13], no, None), ([2, 8, 7], no, None), ([], no, "")],
                 trap=37, random=24)  # fmt: skip
    for key in ("pad_token", "word_delimiter_token", "cleanup"):
        decoder = ctc(True)
        del decoder[key]
        book.add(f"ctc-without-{key}", tokenizer("a", decoder=decoder), [([0, 0], no, None)], trap=37, error=True)
    padded = ["HHaHH", "H", "HH", "", "a", "HaH", "HHH", "bHHHHb", "éH", "Hé"]
    for start, stop in ((1, 0), (0, 1), (1, 1), (2, 2), (0, 0), (3, 0), (0, 3)):
        book.add(f"strip-{start}-{stop}", tokenizer(padded, [added("HxH", 0), added("<s>", 0, "s")],
                 strip("H", start, stop)), [([id], no, None) for id in range(10)] + [([0, 5, 10], no, None)],
                 trap=38, random=6)  # fmt: skip
    book.add("strip-wide-content", tokenizer(["ééaé", "é", "e"], decoder=strip("é", 1, 1)),
             [([0], no, None), ([0, 2], no, None), ([1], no, None)], trap=38)  # fmt: skip
    book.add("strip-fused-both", tokenizer(["H", "a", "HH"], decoder=sequence(FUSE, strip("H", 2, 2))),
             [([0, 1, 0], no, None), ([0, 0, 1, 2, 2], no, None), ([1], no, None), ([0, 0, 0, 0], no, None),
              ([0, 0], no, None), ([0], no, None), ([], no, None)], trap=38, random=6)  # fmt: skip
    book.add("strip-two-chars", tokenizer("a", decoder=strip("HH", 1, 0)), trap=38, error=True)
    book.add("strip-negative", tokenizer("a", decoder=strip("H", -1, 0)), trap=38, error=True)
    book.add("strip-without-stop", tokenizer("a", decoder={"type": "Strip", "content": " ", "start": 1}), trap=38,
             error=True)  # fmt: skip
    texts = ["aaa", "ab", "a", "b", "a.c", "", "$1", "aXa", "▁a▁", "\n", "éa"]
    for name, decoder, said in (
        ("overlap", replace("aa", "X"), "Xa"),
        ("dollar", replace("aaa", "$1"), "$1"),
        ("empty-pattern", replace("", "-"), None),
        ("dot", replace(".", "!"), None),
        ("empty-content", replace("a", ""), ""),
        ("grow", replace("a", "aa"), "aaaaaa"),
        ("two-chars", replace("ab", "c"), None),
        ("fuse-before", sequence(FUSE, replace("ab", "c")), None),
        ("fuse-after", sequence(replace("ab", "c"), FUSE), None),
        ("to-byte", sequence(replace("aaa", "<0xC3>"), replace("a", "<0xA9>"), BYTE_FALLBACK, FUSE), "\ufffd"),
    ):
        cases = [([0], no, said), ([1], no, "-a-b-" if name == "empty-pattern" else None), ([2, 3], no, None),
                 ([4], no, None), ([5], no, None), ([6, 7, 8], no, None), ([0, 2], no, None)]  # fmt: skip
        book.add(f"replace-{name}", tokenizer(texts, [added("<a>", 0), added("<s>", 0, "s")], decoder), cases,
                 trap=39, random=10)  # fmt: skip
    for name, pattern, content in (
        ("class", "[ab]+", "."), ("anchor-start", "^a", "A"), ("anchor-end", "a$", "A"), ("any", ".", "!"),
        ("empty-match", "x*", "-"), ("group", "(a)(b)", "$2$1"), ("alternation", "ab|a", "<>"), ("lookahead", "a(?=b)", "A"),
        ("lookbehind", "(?<=a)b", "B"), ("unicode-class", r"\p{L}", "L"), ("digit", r"\d", "D"), ("word", r"\w+", "W"),
        ("space", r"\s", "_"), ("case", "(?i)A", "z"), ("lazy", "a+?", "1"), ("possessive", "a++", "P"),
        ("backreference", r"(a)\1", "R"), ("posix", "[[:alpha:]]", "P"), ("boundary", r"\b", "|"),
        ("newline", r"\n", "N"), ("any-newline", r"\R", "N"), ("hex", r"\h", "H"), ("underline", "▁", " "),
        ("escaped-dot", r"a\.c", "abc"), ("not-newline", "[^a]", "^"),
    ):  # fmt: skip
        for place, decoder in (("", replace(pattern, content, "Regex")),
                               ("-after-fuse", sequence(FUSE, replace(pattern, content, "Regex")))):  # fmt: skip
            differs = {
                "posix": "[[:alpha:]] is Unicode in Oniguruma and ASCII in fancy-regex",
                "any-newline": r"fancy-regex has no \R",
            }.get(name)
            book.add(f"replace-regex-{name}{place}", tokenizer(texts, decoder=decoder), differs=differs, cases=
                     [([id], no, None) for id in range(11 if not place else 0)] + [([0, 1, 2, 3, 4], no, None),
                     ([8, 9, 10], no, None)], trap=39)  # fmt: skip
    book.add("replace-bad-regex", tokenizer("a", decoder=replace("(", "x", "Regex")), trap=39, error=True)
    book.add("replace-no-content", tokenizer("a", decoder={"type": "Replace", "pattern": {"String": "a"}}), trap=39,
             error=True)  # fmt: skip
    book.add("replace-plain-pattern", tokenizer("a", decoder={"type": "Replace", "pattern": "a", "content": "b"}),
             trap=39, error=True)  # fmt: skip
    joined = tokenizer("ab", [added("<s>", 2, "s")])
    book.add("null-decoder", joined, [([0, 2, 1, 99, 0], no, "a <s> b a"), ([0, 2, 1, 99, 0], yes, "a b a"),
             ([], no, ""), ([99], no, ""), ([0], no, "a")], trap=40, random=6)  # fmt: skip
    book.add("no-decoder-key", {k: v for k, v in joined.items() if k != "decoder"}, [([0, 2, 1], no, None)], trap=40)
    book.add("null-decoder-empty-token", tokenizer(["a", ""]), [([0, 1, 0], no, None), ([1, 1], no, None)], trap=40)
    book.add("empty-sequence", tokenizer("ab", [added("<s>", 2, "s")], sequence()),
             [([0, 2, 1, 99, 0], no, "a<s>ba")], trap=40, random=4)  # fmt: skip
    book.add("fuse-alone", tokenizer(["a", " b"], [added("<s>", 2, "s")], FUSE), [([0, 2, 1], no, None)], random=4)
    book.add("sequence-of-everything", tokenizer(["##a", "▁b", "<0x41>", "c</w>", "<pad>", "|", "h"],
             [added("<s>", 0, "s")], sequence(word_piece(False), metaspace("first"), {"type": "BPEDecoder",
             "suffix": "</w>"}, BYTE_FALLBACK, replace("h", "H"), ctc(True), FUSE, strip(" ", 1, 0))), random=30)


def structure(book):
    no = False
    plain = tokenizer(["Ġa", "b"], [added("<s>", 2, "s")], BYTE_LEVEL)
    check = [([0, 2, 1], no, " a<s>b")]
    book.add("model-first", {k: plain[k] for k in ("model", "decoder", "added_tokens", "version")}, check, trap=34)
    book.add("model-then-added", {k: plain[k] for k in ("decoder", "model", "added_tokens", "version")}, check, trap=34)
    book.add("model-type-last", plain | {"model": {"vocab": {"Ġa": 0, "b": 1}, "unk_token": "x", "type": "WordLevel"}},
             check, trap=34)  # fmt: skip
    book.add("decoder-twice", text_of(plain, d=('"decoder"', '"decoder": {"type": "Fuse"}, "decoder"')), check, trap=34)
    book.add("decoder-twice-null-last", text_of(plain, d=('"model"', '"decoder": null, "model"')),
             [([0, 2, 1], no, None)], trap=34)  # fmt: skip
    book.add("added-twice-key", text_of(plain, d=('"model"', '"added_tokens": [], "model"')), [([0, 2, 1], no, None)],
             trap=34)  # fmt: skip
    book.add("model-twice-key", text_of(plain, d=('"model"', '"model": {"type": "WordLevel", "vocab": {"z": 0}, '
             '"unk_token": "u"}, "model"')), [([0, 2, 1], no, None)], trap=34)  # fmt: skip
    book.add("decoder-type-twice", text_of(plain, d=('"type": "ByteLevel"', '"type": "Fuse", "type": "ByteLevel"')),
             [([0, 2, 1], no, None)], trap=34)  # fmt: skip
    book.add("decoder-type-last", plain | {"decoder": {"add_prefix_space": True, "trim_offsets": True,
             "use_regex": True, "type": "ByteLevel"}}, check, trap=34)  # fmt: skip
    for name, value in (("object", {"decoder": None, "model": [1, "x", {"vocab": {}}]}), ("null", None), ("text", "x")):
        book.add(f"unknown-key-{name}", plain | {"more": value}, trap=34, error=True)
    book.add("unknown-key-first", {"more": "x"} | plain, trap=34, error=True)
    model = plain["model"] | {"more": {"vocab": {"z": 0}}}
    book.add("unknown-key-in-model", plain | {"model": model}, [([0, 2, 1], no, None)], trap=34)
    book.add("no-version", {k: v for k, v in plain.items() if k != "version"}, check, trap=34)
    book.add("version-2", plain | {"version": "2.0"}, trap=34, error=True)
    book.add("version-number", plain | {"version": 1.0}, trap=34, error=True)
    book.add("version-null", plain | {"version": None}, [([0, 2, 1], no, None)], trap=34, error=True)
    book.add("bom", "\ufeff" + text_of(plain), trap=34, error=True)
    book.add("lone-surrogate", text_of(tokenizer(["QQ", "b"], decoder=FUSE), a=('"QQ"', r'"\ud800"')), trap=34, error=True)
    book.add("lone-low-surrogate", text_of(tokenizer(["QQ", "b"], decoder=FUSE), a=('"QQ"', r'"\udc00x"')), trap=34,
             error=True)  # fmt: skip
    book.add("unknown-decoder", tokenizer("a", decoder={"type": "Whisper"}), trap=34, error=True)
    book.add("decoder-without-type", tokenizer("a", decoder={"add_prefix_space": True, "trim_offsets": True}),
             [([0], no, None)], trap=34, error=True)  # fmt: skip
    book.add("decoder-a-string", tokenizer("a", decoder="Fuse"), [([0], no, None)], trap=34, error=True)
    book.add("decoder-in-sequence-unknown", tokenizer("a", decoder=sequence({"type": "Nope"})), trap=34, error=True)
    book.add("decoder-byte-fallback-extra", tokenizer(["<0x41>"], decoder={"type": "ByteFallback", "x": 1}),
             [([0], no, None)], trap=34)  # fmt: skip
    twice = text_of(tokenizer("a", [added("<X>", 1)], FUSE), t=('"content": "<X>"', '"content": "<W>", "content": "<X>"'))
    book.add("added-field-twice", twice, trap=34, error=True)
    book.add("strip-field-twice", text_of(tokenizer("a", decoder=strip("a", 1, 0)), t=('"start": 1', '"start": 0, "start": 1')),
             [([0], no, None)], trap=34)  # fmt: skip
    vocab_twice = text_of(tokenizer("a", decoder=FUSE), t=('"vocab": {', '"vocab": {"z": 0}, "vocab": {'))
    book.add("vocab-twice", vocab_twice, [([0], no, None)], trap=34)
    for depth in (100, 126, 127, 128, 200):
        model = text_of(plain, d=('"unk_token"', f'"more": {"[" * depth}{"]" * depth}, "unk_token"'))
        differs = "unknown values may nest deeper than 128 here" if depth > 125 else None
        book.add(f"deep-{depth}", model, [([0, 2, 1], no, None)], trap=34, error=depth > 125, differs=differs)
    for name, number in (("big-exponent", "1e400"), ("leading-zero", "-01"), ("plus", "+1"), ("bare-point", "-.5"),
                         ("open-point", "-1."), ("infinity", "-Infinity"), ("hex", "0x1"), ("minus", "-")):  # fmt: skip
        book.add(f"number-{name}", text_of(tokenizer(["a", "b"], decoder=FUSE, model="Unigram"), n=("-1.0", number)),
                 trap=34, error=True)  # fmt: skip
    for name, escape in (("unknown", r"\x41"), ("short", r"\u41"), ("not-hex", r"\u00zz"), ("upper-u", r"\U0041")):
        book.add(f"escape-{name}", text_of(tokenizer(["QQ", "b"], decoder=FUSE), e=("QQ", escape)), trap=34, error=True)
    book.add("surrogate-then-escape", text_of(tokenizer(["QQ", "b"], decoder=FUSE), e=("QQ", r"\ud83d\u0041")), trap=34,
             error=True)  # fmt: skip
    book.add("no-model", {k: v for k, v in plain.items() if k != "model"}, trap=34, error=True)
    book.add("model-null", plain | {"model": None}, trap=34, error=True)
    book.add("empty-object", {}, trap=34, error=True)
    book.add("empty-file", "", trap=34, error=True)
    book.add("not-json", "not json", trap=34, error=True)
    book.add("array", "[]", trap=34, error=True)
    text = text_of(plain)
    for name, cut in (("last-brace", len(text) - 1), ("middle", len(text) // 2), ("in-vocab", text.index('"b": 1') + 2)):
        book.add(f"cut-{name}", text[:cut], trap=34, error=True)
    book.add("trailing-space", text + " \n\t\r\n", check, trap=34)
    book.add("trailing-text", text + " x", trap=34, error=True)
    book.add("trailing-comma", text[:-1] + ",}", trap=34, error=True)
    book.add("single-quotes", text.replace('"', "'"), trap=34, error=True)
    book.add("comment", "/* x */" + text, trap=34, error=True)
    book.add("nan-score", text_of(tokenizer(["a", "b"], decoder=FUSE, model="Unigram"), n=("-1.0", "NaN")), trap=34, error=True)
    book.add("control-character-in-string", text.replace("Ġa", "\n"), trap=34, error=True)
    book.add("pretty-printed", json.dumps(plain, indent=2, ensure_ascii=False).replace("\n", "\r\n"), check, trap=34)
    book.add("escaped-keys", text_of(plain, k=('"decoder"', r'"d\u0065coder"'), v=('"vocab"', r'"voc\u0061b"')), check,
             trap=34)  # fmt: skip
    data = text.encode()
    book.add("invalid-utf8", data.replace("Ġa".encode(), b"\xc4"), trap=34, error=True)
    book.add("utf16", text.encode("utf-16"), trap=34, error=True)
    book.add("no-effect-of-other-parts", plain | {
        "truncation": {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "Ġa"},
        "post_processor": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}},
        check, trap=42)  # fmt: skip


def models(book):
    no, yes = False, True
    for model in ("WordLevel", "WordPiece", "BPE", "Unigram"):
        book.add(f"model-{model}", tokenizer(["[UNK]", "a", "▁b", "##c"], [added("<s>", 9, "s")], FUSE, model=model),
                 [([0, 1, 2, 3, 4], no, None), ([0, 1, 2, 3, 4], yes, None)], trap=41, random=2)  # fmt: skip
        legacy = tokenizer(["[UNK]", "a", "▁b", "##c"], [added("<s>", 9, "s")], FUSE, model=model)
        del legacy["model"]["type"]
        book.add(f"model-{model}-no-type", legacy, [([0, 1, 2, 3, 4], no, None)], trap=34)
    book.add("unigram-same-token-twice", text_of(tokenizer(["a", "b", "c"], [added("<X>", 9)], FUSE, model="Unigram"),
             s=('["c"', '["a"')), [([0, 1, 2, 3, 4], no, None)], trap=41)  # fmt: skip
    book.add("unigram-added-in-vocab", tokenizer(["<unk>", "<s>", "a"], [added("<s>", 1, "s"), added("<unk>", 0, "s"),
             added("<m>", 3, "s")], metaspace("always"), model="Unigram"), [([0, 1, 2, 3], no, None),
             ([0, 1, 2, 3], yes, None)], trap=41)  # fmt: skip
    book.add("unigram-pairs-of-three", text_of(tokenizer(["a", "b"], decoder=FUSE, model="Unigram"),
             s=('["b", -1.0]', '["b", -1.0, 3]')), trap=41, error=True)  # fmt: skip
    book.add("unigram-vocab-map", tokenizer("a", decoder=FUSE) | {"model": {"type": "Unigram", "unk_id": 0,
             "vocab": {"a": 0}}}, trap=41, error=True)  # fmt: skip
    book.add("unigram-unk-out-of-range", tokenizer("a", decoder=FUSE) | {"model": {"type": "Unigram", "unk_id": 5,
             "vocab": [["a", 0.0]]}}, [([0], no, None)], trap=41, error=True)  # fmt: skip
    book.add("unigram-integer-score", tokenizer("a", decoder=FUSE) | {"model": {"type": "Unigram", "unk_id": None,
             "vocab": [["a", 0], ["b", -1e-3]]}}, [([0, 1], no, "ab")], trap=41)  # fmt: skip
    book.add("bpe-vocab-list", tokenizer("a", decoder=FUSE) | {"model": {"type": "BPE", "vocab": [["a", 0.0]],
             "merges": []}}, trap=41, error=True)  # fmt: skip
    book.add("huge-id", tokenizer({"a": 0, "b": 4294967295}, decoder=FUSE), [([0, 4294967295, 4294967294], no, "ab")],
             trap=41)  # fmt: skip
    book.add("huge-id-byte-level", tokenizer({"a": 5, "Ġb": 4000000000}, [added("<s>", 1, "s")], BYTE_LEVEL),
             [([5, 4000000000, 2, 0], no, None), ([5, 4000000000, 2], yes, None)], trap=41)  # fmt: skip
    book.add("id-too-big", tokenizer({"a": 0, "b": 4294967296}, decoder=FUSE), trap=41, error=True)
    book.add("id-negative", tokenizer({"a": 0, "b": -1}, decoder=FUSE), trap=41, error=True)
    book.add("id-float", text_of(tokenizer({"a": 0, "b": 1}, decoder=FUSE), f=('"b": 1', '"b": 1.0')), trap=41, error=True)
    book.add("id-string", tokenizer({"a": 0, "b": "1"}, decoder=FUSE), trap=41, error=True)
    book.add("ids-not-in-order", tokenizer({"c": 7, "a": 2, "b": 0}, [added("<s>", 1, "s")], FUSE),
             [([0, 2, 7, 3, 1], no, None)], trap=41, random=4)  # fmt: skip
    book.add("empty-token", tokenizer(["", "a"], decoder=BYTE_LEVEL), [([0], no, ""), ([1, 0, 1], no, "aa")], random=2)
    book.add("long-token", tokenizer(["a" * 300, "Ġ" * 2048, "b", "é" * 200], decoder=BYTE_LEVEL),
             [([0, 1, 2], no, None), ([3], no, None)], random=2)  # fmt: skip
    book.add("nul-token", tokenizer(["a\0b", "\0"], decoder=FUSE), [([0, 1], no, None)])
    merges = tokenizer(["a", "b", "ab", "c"], decoder=BYTE_LEVEL, model="BPE")
    for name, value in (("text", ["a b"]), ("pairs", [["a", "b"]])):
        book.add(f"bpe-merges-{name}", merges | {"model": merges["model"] | {"merges": value}}, [([2, 0], no, "aba")],
                 trap=34)  # fmt: skip
    unchecked = "merges do not matter for decoding: that they are a JSON list is all that is checked"
    for name, value, differs in (
        ("unknown-part", [["a", "z"]], unchecked), ("unknown-result", [["b", "a"]], unchecked),
        ("unknown-part-text", ["a z"], unchecked), ("one-part", [["a"]], unchecked), ("three-parts", [["a", "b", "c"]], unchecked),
        ("text-of-three", ["a b c"], unchecked), ("number", [1], unchecked), ("map", {"a": "b"}, None), ("null", None, None),
        ("mixed", ["a b", ["a", "b"]], unchecked), ("empty-text", [""], unchecked), ("version-line", ["#version: 0.2", "a b"], None),
    ):  # fmt: skip
        good = name == "version-line"
        book.add(f"bpe-merges-{name}", merges | {"model": merges["model"] | {"merges": value}},
                 [([2], no, None)] if good else [], trap=34, error=not good, differs=differs)  # fmt: skip
    book.add("bpe-without-merges", merges | {"model": {k: v for k, v in merges["model"].items() if k != "merges"}},
             trap=34, error=True)  # fmt: skip
    book.add("bpe-merges-before-vocab", merges | {"model": {"type": "BPE", "merges": [["a", "b"]],
             "vocab": {"a": 0, "b": 1, "ab": 2}}}, [([2], no, "ab")], trap=34)  # fmt: skip
    book.add("word-level-without-unk", tokenizer("a", decoder=FUSE) | {"model": {"type": "WordLevel", "vocab": {"a": 0}}},
             trap=34, error=True)  # fmt: skip
    book.add("unknown-model", tokenizer("a", decoder=FUSE) | {"model": {"type": "Magic", "vocab": {"a": 0}}}, trap=34,
             error=True)  # fmt: skip
    book.add("byte-fallback-in-model-only", tokenizer(["<0x41>", "a"], decoder=FUSE) | {"model": {"type": "BPE",
             "byte_fallback": True, "vocab": {"<0x41>": 0, "a": 1}, "merges": []}}, [([0, 1], no, None)])  # fmt: skip
    book.add("end-of-word-in-model-only", tokenizer("a", decoder=FUSE) | {"model": {"type": "BPE",
             "end_of_word_suffix": "</w>", "vocab": {"a</w>": 0, "b": 1}, "merges": []}}, [([0, 1], no, None)])
