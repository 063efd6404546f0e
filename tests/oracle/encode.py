"""Writes the ids that Python `tokenizers` gives texts into encode.json.

    .cache/venv-oracle/bin/python tests/oracle/encode.py            writes it
    .cache/venv-oracle/bin/python tests/oracle/encode.py --check    compares with what is committed

README.md in this folder says what the file holds.
"""

import hashlib
import json
import sys

from tokenizers import Tokenizer

from generate import VERSION, corpus
from oracle import CACHE, HERE, Quiet, line

PATH = HERE / "encode.json"

# Texts beside those of the corpus: a string, or [string, how often, string behind].
TEXTS = [
    "", " ", "  ", "\n", "\r\n\r\n", "\t", "\u0000", "a\u0000b", "\u0001\u0002\u001f\u007f\u0085", "\u00a0", "\u200b\u200d\ufeff",
    " leading", "trailing ", "  two  spaces  ", "it's I'm we've they'LL", "1234567890", "3.14 1,000", "e\u0301\u0301", "\ufb01\u01c5\u1e9e",
    "\U0010ffff", "\ue000", "İIıi", "ß", "<0x41>", "▁▁a▁", "Ġ", "##a", "<unk>", "[UNK] [CLS]", "<s></s>", "<|endoftext|>x<|endoftext|>",
    " <mask> a", "a<mask>b", "<|im_start|>user\nhi<|im_end|>\n",
    [" ", 300, "x"], [" ", 20000, ""], ["\n", 3000, "x"], ["a", 3000, ""], ["ab ", 2000, ""], ["漢", 1500, ""], ["!", 2000, "a"], ["1", 999, ""],
]

# Texts of the hand-made tokenizers.
SMALL = ["", "a", "ab", " a b ", "A-b, c.d!", "a  b\nb\ta", "é É e\u0301 ﬁ", "漢字かなカナ", "123 4a5", "a</s>b <pad> a", "\u0000a\u00ad", "aaaaabbbbb", "😀a"]  # fmt: skip


def text_of(text):
    return text if isinstance(text, str) else text[0] * text[1] + text[2]


def digest(ids):
    data = b"".join(id.to_bytes(4, "little") for id in ids)
    return f"{len(ids)}:{hashlib.sha256(data).hexdigest()[:16]}"


def real(entry):
    """Of each text, length and digest of its ids without special tokens, and with them where they differ."""
    tokenizer = Tokenizer.from_file(str(CACHE / entry["key"] / "tokenizer.json"))
    added = sorted(tokenizer.get_added_tokens_decoder().items())
    contents = [token.content for _, token in added]
    own = [f"{a}{b}" for content in contents[:6] + contents[6:][-6:] for a, b in ((content, ""), (f"Hi {content} ", "there"))]
    out = []
    for text in [*corpus().values(), *map(text_of, TEXTS), *own]:
        without, special = (digest(tokenizer.encode(text, add_special_tokens=add).ids) for add in (False, True))
        out.append(without if without == special else f"{without} {special}")
    return {"key": entry["key"], "sha256": entry["files"]["tokenizer.json"]["sha256"], "own": own, "ids": out}


VOCAB = {word: id for id, word in enumerate(
    ["<unk>", "a", "b", "ab", "▁", "▁a", "▁b", "Ġ", "Ġa", "c", "d", "e", "é", "A", "1", "2", " ", "##b", "##a", "-", ".", "漢", "b</w>", "a</w>", "Ã", "©", "fi"]
)}  # fmt: skip
BYTES = {f"<0x{byte:02X}>": 100 + byte for byte in range(256)}
BPE = {"type": "BPE", "vocab": VOCAB, "merges": ["a b", "▁ a", "▁ b", "Ġ a"], "unk_token": "<unk>"}
PIECES = [["<unk>", 0.0], ["a", -1.0], ["b", -2.0], ["ab", -2.5], ["▁", -3.0], ["▁a", -2.0], ["c", -4.0], [" ", -4.5]]


def added(content, **flags):
    token = {"id": 0, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return token | flags


def handmade():
    """Name and members of each hand-made tokenizer."""

    def all_of(member, **kinds):
        for name, value in kinds.items():
            yield f"{member}/{name}", {member: value}

    def sequence(member, *parts):
        return {"type": "Sequence", member: list(parts)}

    def replace(content, **pattern):
        return {"type": "Replace", "pattern": pattern, "content": content}

    def split(behavior, invert=False, **pattern):
        return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}

    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    plain = {kind: {"type": kind} for kind in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents", "ByteLevel")}
    prepend, strip = {"type": "Prepend", "prepend": "▁"}, {"type": "Strip", "strip_left": True, "strip_right": True}
    yield from all_of(
        "normalizer", **plain, bert=bert, bert_cased=bert | {"lowercase": False, "strip_accents": True}, prepend=prepend, strip=strip,
        replace=replace("▁", String=" "), regex=replace("-", Regex="[a-c]+|\\s"), to_nothing=replace("", String="b"),
        llama=sequence("normalizers", prepend, replace("▁", String=" ")), many=sequence("normalizers", plain["NFKD"], plain["StripAccents"], plain["Lowercase"], strip),
        none=sequence("normalizers"),
    )  # fmt: skip
    yield "normalizer/front", {"normalizer": sequence("normalizers", replace("xy", Regex="a*"), plain["NFD"])}
    yield "normalizer/front_twice", {"normalizer": sequence("normalizers", plain["Nmt"], {"type": "Prepend", "prepend": ""}), "pre_tokenizer": level}
    yield "normalizer/stripped_first", {
        "normalizer": strip, "pre_tokenizer": sequence("pretokenizers", {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}),
    }  # fmt: skip

    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    punctuation = {"type": "Punctuation", "behavior": "Isolated"}
    yield from all_of(
        "pre_tokenizer", byte_level=level, byte_level_plain=level | {"add_prefix_space": False, "use_regex": False}, bert={"type": "BertPreTokenizer"},
        whitespace={"type": "Whitespace"}, whitespace_split={"type": "WhitespaceSplit"}, delimiter={"type": "CharDelimiterSplit", "delimiter": "b"},
        metaspace=metaspace, metaspace_first=metaspace | {"prepend_scheme": "first"}, metaspace_never=metaspace | {"prepend_scheme": "never", "split": False},
        metaspace_old={"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}, punctuation=punctuation,
        digits={"type": "Digits", "individual_digits": True}, digit_runs={"type": "Digits", "individual_digits": False}, scripts={"type": "UnicodeScripts"},
        fixed={"type": "FixedLength", "length": 2}, fixed_zero={"type": "FixedLength", "length": 0},
        many=sequence("pretokenizers", split("Isolated", Regex="\\d{1,2}"), punctuation, level),
        first_after_split=sequence("pretokenizers", {"type": "WhitespaceSplit"}, metaspace | {"prepend_scheme": "first"}),
    )  # fmt: skip
    for behavior in ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"):
        for name, pattern in (("string", {"String": "b"}), ("regex", {"Regex": "\\s+|a+(?=b)"}), ("empty", {"Regex": "(?=b)"})):
            yield f"pre_tokenizer/split/{behavior}/{name}", {"pre_tokenizer": split(behavior, **pattern)}
            yield f"pre_tokenizer/split/{behavior}/{name}/inverted", {"pre_tokenizer": split(behavior, True, **pattern)}
    for name, pattern in {"classes": "[[:alpha:]]+", "newline": "\\R", "possessive": "a++b?", "script": "\\p{Han}|\\p{Lu}", "case": "(?i:B)", "behind": "(?<=a)b", "space": "\\s+(?!\\S)|\\h"}.items():  # fmt: skip
        yield f"pre_tokenizer/split/pattern/{name}", {
            "pre_tokenizer": split("Isolated", Regex=pattern), "model": {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"},
        }  # fmt: skip

    def template(single, pair=("A", "B"), **specials):
        pieces = [[{"Sequence": {"id": p, "type_id": 0}} if p in ("A", "B") else {"SpecialToken": {"id": p, "type_id": 0}} for p in t] for t in (single, pair)]
        tokens = {name: {"id": name, "ids": ids, "tokens": [name] * len(ids)} for name, ids in specials.items()}
        return {"type": "TemplateProcessing", "single": pieces[0], "pair": pieces[1], "special_tokens": tokens}

    ends = {"sep": ["b", 2], "cls": ["a", 1]}
    bert_post, roberta = {"type": "BertProcessing"} | ends, {"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": True} | ends
    yield from all_of(
        "post_processor", bert=bert_post, roberta=roberta, byte_level=level, template=template(["x", "A", "y"], x=[7], y=[8, 9]), twice=template(["A", "A"]),
        empty=template([]), second=template(["B"]), missing=template(["x", "A"]), unread=template(["A"], ("A", "q", "B")),
        many=sequence("processors", level, template(["x", "A"], x=[7])), bert_twice=sequence("processors", bert_post, bert_post),
        template_roberta=sequence("processors", template(["x", "A"], x=[7]), roberta), templates=sequence("processors", template(["x", "A"], x=[7]), template(["A"], ("B", "A"))),
        three=sequence("processors", template(["A", "A", "A"]), template(["A"])), template_bert=sequence("processors", template(["A", "x", "A"], x=[7]), bert_post),
    )  # fmt: skip

    cut = {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0}
    for name, change in {
        "right": {}, "left": {"direction": "Left"}, "first": {"strategy": "OnlyFirst"}, "second": {"strategy": "OnlySecond"}, "zero": {"max_length": 0}, "one": {"max_length": 1},
        "two": {"max_length": 2}, "stride": {"stride": 1}, "stride_too_long": {"stride": 3}, "second_zero": {"strategy": "OnlySecond", "max_length": 0}, "long": {"max_length": 2**63},
    }.items():  # fmt: skip
        yield f"truncation/{name}", {"truncation": cut | change}
        yield f"truncation/{name}/special", {"truncation": cut | change, "post_processor": bert_post, "pre_tokenizer": metaspace}
    pad = {"strategy": {"Fixed": 6}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 55, "pad_type_id": 0, "pad_token": "<pad>"}
    for name, change in {
        "right": {}, "left": {"direction": "Left"}, "longest": {"strategy": "BatchLongest"}, "multiple": {"strategy": "BatchLongest", "pad_to_multiple_of": 4},
        "fixed_multiple": {"pad_to_multiple_of": 4}, "multiple_of_zero": {"pad_to_multiple_of": 0},
    }.items():  # fmt: skip
        yield f"padding/{name}", {"padding": pad | change, "post_processor": roberta}
    yield "padding/truncation", {"padding": pad, "truncation": cut, "post_processor": bert_post}

    models = {
        "no_unk": {"unk_token": None}, "fuse": {"fuse_unk": True}, "bytes": {"vocab": VOCAB | BYTES, "byte_fallback": True}, "some_bytes": {"byte_fallback": True, "vocab": VOCAB | {"<0x43>": 90}},
        "ignore_merges": {"ignore_merges": True, "merges": []}, "pairs": {"merges": [["a", "b"]]}, "prefix": {"continuing_subword_prefix": "##", "merges": ["a ##b"]},
        "suffix": {"end_of_word_suffix": "</w>", "merges": []}, "unk_gone": {"unk_token": "gone"}, "merge_unknown": {"merges": ["a zz"]}, "merge_short": {"continuing_subword_prefix": "##", "merges": ["a b"]},
        "merge_long": {"merges": ["</s> </s>"]}, "empty": {"vocab": {}, "merges": [], "unk_token": None}, "version": {"merges": ["#version: 0.2", "a b"]}, "dropout_zero": {"dropout": 0.0},
    }  # fmt: skip
    for name, change in models.items():
        yield f"model/bpe/{name}", {"model": BPE | change}
        yield f"model/bpe/{name}/words", {"model": BPE | change, "pre_tokenizer": {"type": "WhitespaceSplit"}}
    piece = {"type": "WordPiece", "vocab": VOCAB, "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 6}
    unigram = {"type": "Unigram", "vocab": PIECES, "unk_id": 0, "byte_fallback": False}
    word = {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"}
    for name, model in {
        "wordpiece": piece, "wordpiece_no_unk": piece | {"unk_token": "zz"}, "wordpiece_no_prefix": piece | {"continuing_subword_prefix": ""}, "wordlevel": word, "wordlevel_no_unk": word | {"unk_token": "zz"},
        "unigram": unigram, "unigram_bytes": unigram | {"byte_fallback": True, "vocab": PIECES + [[byte, -9.0] for byte in BYTES]}, "unigram_no_unk": unigram | {"unk_id": None}, "unigram_huge": unigram | {"vocab": [["u", 0], ["a", 1e308], ["b", 1e308]]},
        "unigram_empty": unigram | {"vocab": [], "unk_id": None}, "unigram_wrong_unk": unigram | {"unk_id": 99},
    }.items():  # fmt: skip
        yield f"model/{name}", {"model": model}
        yield f"model/{name}/words", {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}}

    lower = {"type": "Lowercase"}
    for name, tokens in {
        "special": [added("</s>")], "word": [added("a", single_word=True, special=False)], "left": [added("</s>", lstrip=True)], "right": [added("</s>", rstrip=True)], "both": [added("</s>", lstrip=True, rstrip=True), added("<pad>", lstrip=True, rstrip=True)],
        "normalized": [added("A", normalized=True, special=False), added("</S>", normalized=True)], "longest": [added("a"), added("ab"), added("abb", special=False)], "space": [added(" ", special=False)], "space_right": [added("a", rstrip=True), added(" ")],
        "twice": [added("</s>"), added("</s>", rstrip=True)], "empty": [added("")], "accent": [added("e\u0301", normalized=True)],
    }.items():  # fmt: skip
        yield f"added/{name}", {"added_tokens": tokens}
        yield f"added/{name}/normalizer", {"added_tokens": tokens, "normalizer": lower}
        yield f"added/{name}/metaspace", {"added_tokens": tokens, "pre_tokenizer": metaspace | {"prepend_scheme": "first"}, "normalizer": {"type": "NFC"}}


# Where we are not equal, on purpose; the test fails when that stops being true.
DIFFERS = {
    "pre_tokenizer/split/pattern/classes": "[[:alpha:]] is Unicode in Oniguruma and ASCII in fancy-regex",
    "pre_tokenizer/split/pattern/newline": "fancy-regex does not know \\R",
    "normalizer/front_twice": "when a step writes the first character anew, the reference's later ones repeat the end of the text, or panic",
    "normalizer/stripped_first": "the reference finds no first piece when a normalizer took away the beginning and a pre-tokenizer cut the rest",
}


def ids_or_why(tokenizer, text, add):
    """The ids, "error" for an exception, "panics" for a panic."""
    try:
        return tokenizer.encode(text, add_special_tokens=add).ids
    except Exception:
        return "error"
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return "panics"


def handmade_item(name, members):
    value = {"version": "1.0", "added_tokens": [], "decoder": None, "model": BPE} | members
    out = {"name": name, "tokenizer": value}
    if name in DIFFERS:
        out["differs"] = DIFFERS[name]
    try:
        tokenizer = Tokenizer.from_str(json.dumps(value))
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return out | {"load_error": True}
    cases = []
    for text in SMALL:
        without, special = (ids_or_why(tokenizer, text, add) for add in (False, True))
        cases.append([without] if without == special else [without, special])
    return out | {"cases": cases}


def main():
    entries = json.loads((HERE / "tokenizers.json").read_text(encoding="utf-8"))["tokenizers"]
    with Quiet():
        items = [line(handmade_item(name, members)) for name, members in handmade()]
    reals = [line(real(entry)) for entry in entries]
    head = line({"tokenizers": VERSION, "corpus": list(corpus().values()), "texts": TEXTS, "small": SMALL})
    text = head[:-1] + ',\n"real":[\n' + ",\n".join(reals) + '\n],\n"handmade":[\n' + ",\n".join(items) + "\n]}\n"
    if "--check" in sys.argv[1:]:
        if text != PATH.read_text(encoding="utf-8"):
            sys.exit("encode.json is DIFFERENT from what is committed")
        return print("encode.json: as committed")
    PATH.write_text(text, encoding="utf-8")
    print(f"encode.json: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
