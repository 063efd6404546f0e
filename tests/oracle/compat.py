"""Writes what `transformers` makes of token ids, with tokenizer_config.json, into compat/transformers4.json or 5.

    .cache/venv-transformers4/bin/python tests/oracle/compat.py          write compat/transformers4.json
    .cache/venv-transformers5/bin/python tests/oracle/compat.py          write compat/transformers5.json
    ... compat.py --check                                                compare with what is committed

README.md in this folder says what the files hold.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "critical", "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1"}

import tokenizers  # noqa: E402
import transformers  # noqa: E402
from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: E402

from handmade import (  # noqa: E402
    BYTE_LEVEL, FUSE, SPM3, SPM4, added, metaspace, text_of, tokenizer, word_piece,
)  # fmt: skip
from oracle import CACHE, HERE, Lcg, Quiet, digests, line, sweeps  # noqa: E402

VERSIONS = {"4": ("4.57.6", "0.22.2"), "5": ("5.24.0", "0.23.3")}
MAJOR = transformers.__version__.split(".")[0]


# What AutoTokenizer says when it knows no class for a folder.
NO_CLASS = ("does not exist or is not currently imported", "Unrecognized model", "contains custom code")


class Load:
    """Loads a folder as AutoTokenizer does, or, where it knows no class, with the one that takes any tokenizer.json."""

    def __init__(self, folder):
        self.by, self.error, self.tokenizer = "AutoTokenizer", None, None
        here = os.getcwd()
        os.chdir(folder)  # version 4 looks for model names in the path
        try:
            with Quiet():
                try:
                    self.tokenizer = AutoTokenizer.from_pretrained(".", trust_remote_code=False)
                except Exception as error:
                    self.error = type(error).__name__
                    if any(words in str(error) for words in NO_CLASS):
                        self.by = "PreTrainedTokenizerFast"
                        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(".")
        except Exception as error:
            self.error = type(error).__name__
        finally:
            os.chdir(here)

    def decode(self, ids, skip):
        return self.tokenizer.decode(ids, skip_special_tokens=skip)

    def decode_batch(self, lists, skip_special_tokens):
        return [self.decode(ids, skip_special_tokens) for ids in lists]

    def head(self):
        head = {"by": self.by} | ({"class": type(self.tokenizer).__name__} if self.tokenizer else {})
        return head | ({"auto_error": self.error} if self.error else {})


def real(entry):
    """One real tokenizer: the texts of its cases that differ from those of expected/<key>.json, and two sweeps."""
    expected = json.loads((HERE / "expected" / f"{entry['key']}.json").read_text(encoding="utf-8"))
    load = Load(CACHE / entry["key"])
    out = {"key": entry["key"]} | load.head()
    cases = []
    for case in expected["cases"]:
        kept, skipped = load.decode(case["ids"], False), load.decode(case["ids"], True)
        if kept != case["text"] or skipped != case.get("skipped", case["text"]):
            cases.append({"name": case["name"], "text": kept, "skipped": skipped})
    out["other_texts"] = cases
    out["sweeps"] = [
        {"name": name, "kept": digests(load, 10**9, lists, False), "skipped": digests(load, 10**9, lists, True)}
        for name, _, lists in ((name, per_block, list(lists)) for name, per_block, lists in sweeps(expected["max_id"]))
        if name in ("single", "random")
    ]
    return out


def items():
    """Hand-made tokenizers with configs: (name, tokenizer, config)."""
    words = [" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're", "a", "b", " do", " not", ".", "'", " ",
             "▁c", "Ġd", "##e", "é", "<0x41>"]  # fmt: skip
    specials = [added("<s>", 90, "s"), added("</s>", 91, "s"), added("<tool>", 92), added("<IMG>", 93, "n")]

    def plain(decoder=FUSE, model="BPE", tokens=words, more=(), **extra):
        return tokenizer(tokens, [*specials, *more], decoder, model=model, **extra)

    yield "no-config", plain(), None
    yield "empty-config", plain(), {}
    clean = {"clean_up_tokenization_spaces": True}
    for model in ("BPE", "WordPiece", "Unigram", "WordLevel"):
        for flag in (True, False):
            yield f"clean-{flag}-{model}", plain(model=model), {"clean_up_tokenization_spaces": flag}
        yield f"clean-absent-{model}", plain(model=model), {"tokenizer_class": "PreTrainedTokenizerFast"}
    yield "clean-null", plain(model="WordPiece"), {"clean_up_tokenization_spaces": None}
    yield "clean-number", plain(model="WordPiece"), {"clean_up_tokenization_spaces": 1}
    yield "clean-zero", plain(model="WordPiece"), {"clean_up_tokenization_spaces": 0}
    yield "clean-string", plain(model="WordPiece"), {"clean_up_tokenization_spaces": "false"}
    yield "clean-forced-BPE", plain(), clean | {
        "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output": True}  # fmt: skip
    yield "clean-word-piece-decoder", plain(word_piece(True), "WordPiece"), clean
    yield "clean-byte-level", plain(BYTE_LEVEL), clean
    for name, decoder in (("metaspace", metaspace("always")), ("null", None)):
        yield f"clean-{name}", plain(decoder, "Unigram"), clean

    def entry(content, flags="", **extra):
        token = added(content, 0, flags) | extra
        del token["id"]
        return token

    def decoder_of(**tokens):
        return {"added_tokens_decoder": {id.removeprefix("_"): token for id, token in tokens.items()}}

    yield "decoder-adds", plain(), decoder_of(_26=entry("<new>"), _27=entry("<new2>", "s"))
    yield "decoder-adds-out-of-order", plain(), decoder_of(_40=entry("<b>"), _30=entry("<a>", "s"), _9=entry("<c>"))
    yield "decoder-makes-special", plain(), decoder_of(_24=entry("<tool>", "s"))
    yield "decoder-makes-plain", plain(), decoder_of(_22=entry("<s>"), _23=entry("</s>"))
    yield "decoder-makes-base-token-added", plain(), decoder_of(_10=entry("a", "s"), _11=entry("b"))
    yield "decoder-normalized", plain(normalizer={"type": "Lowercase"}), decoder_of(_26=entry("<NEW>", "n"))
    yield "decoder-normalized-again", plain(normalizer={"type": "Lowercase"}), decoder_of(_25=entry("<IMG>"))
    yield "decoder-empty", plain(), {"added_tokens_decoder": {}}
    yield "decoder-same-content-twice", plain(), decoder_of(_26=entry("<n>"), _27=entry("<n>", "s"), _28=entry("<m>"))
    yield "decoder-empty-content", plain(), decoder_of(_26=entry(""), _27=entry("<m>"))
    yield "decoder-string-entry", plain(), decoder_of(_26="<new>")
    yield "decoder-without-flags", plain(), decoder_of(_26={"content": "<new>"}, _27={"content": "<NEWS>", "special": True})
    yield "decoder-unknown-flag", plain(), decoder_of(_26={"content": "<new>", "colour": 1})
    yield "decoder-id-not-a-number", plain(), {"added_tokens_decoder": {"x": entry("<new>")}}
    yield "decoder-null", plain(), {"added_tokens_decoder": None}
    holes = {"a": 0, "b": 3, "c": 7, "d": 9}
    yield "holes", tokenizer(holes, [added("<s>", 9, "s"), added("c", 7), added("<t>", 8)], FUSE), decoder_of(
        _20=entry("<new>"), _21=entry("<new2>", "s"))  # fmt: skip
    yield "holes-nothing-added", tokenizer(holes, [added("c", 7)], FUSE), decoder_of(_20=entry("<new>"))
    yield "holes-no-added", tokenizer(holes, [], FUSE), decoder_of(_20=entry("<new>")) | {"eos_token": "<eos>"}
    yield "holes-top-added", tokenizer(holes, [added("d", 7)], FUSE), decoder_of(_2=entry("<new>")) | {"eos_token": "<e>"}
    yield "holes-llama", tokenizer(holes, [added("<x>", 7)], SPM4, model="BPE"), {"tokenizer_class": "LlamaTokenizer"}
    yield "empty-vocab", tokenizer([], [added("<a>", 0), added("<b>", 1, "s")], FUSE), decoder_of(_2=entry("<new>"))

    named = {"eos_token": "<tool>", "pad_token": "<pad>", "bos_token": "<s>", "unk_token": "a"}
    yield "named", plain(), named
    yield "named-with-decoder", plain(), named | decoder_of(_22=entry("<s>", "s"))
    yield "named-with-full-decoder", plain(), named | decoder_of(_22=entry("<s>", "s"), _24=entry("<tool>"))
    boxed = {key: {"__type": "AddedToken", **entry(value)} for key, value in named.items()}
    yield "named-boxed", plain(), boxed
    yield "named-boxed-with-decoder", plain(), boxed | decoder_of(_22=entry("<s>", "s"))
    yield "named-boxed-normalized", plain(normalizer={"type": "Lowercase"}), {
        "eos_token": {"__type": "AddedToken", **entry("<EOS>", "n")}}  # fmt: skip
    yield "named-null", plain(), dict.fromkeys(named)
    yield "named-plain-object", plain(), {"eos_token": entry("<tool>")}
    yield "named-number", plain(), {"eos_token": 3}
    yield "named-every-one", plain(), {f"{n}_token": f"<{n}>" for n in ("mask", "cls", "sep", "pad", "unk", "eos", "bos")}
    yield "additional", plain(), {"additional_special_tokens": ["<tool>", "<more>", "b"]}
    yield "additional-with-decoder", plain(), {"additional_special_tokens": ["<tool>", "<more>"]} | decoder_of(
        _24=entry("<tool>"), _26=entry("<new>"))  # fmt: skip
    yield "additional-boxed", plain(), {"additional_special_tokens": [
        {"__type": "AddedToken", **entry("<tool>")}, {"__type": "AddedToken", **entry("<more>")}]}  # fmt: skip
    yield "additional-null", plain(), {"additional_special_tokens": None}
    yield "additional-text", plain(), {"additional_special_tokens": "<tool>"}
    yield "extra-map", plain(), {"extra_special_tokens": {"image_token": "<tool>", "audio_token": "<audio>"}}
    yield "extra-map-with-decoder", plain(), {"extra_special_tokens": {"image_token": "<tool>"}} | decoder_of(
        _22=entry("<s>", "s"), _24=entry("<tool>"))  # fmt: skip
    yield "extra-list", plain(), {"extra_special_tokens": ["<tool>", "<audio>"]}
    yield "extra-empty-map", plain(), {"extra_special_tokens": {}}
    yield "extra-and-additional", plain(), {"extra_special_tokens": ["<e>"], "additional_special_tokens": ["<a>"]}
    yield "extra-empty-and-additional", plain(), {"extra_special_tokens": [], "additional_special_tokens": ["<tool>", "<a>"]}
    yield "own-token-key", plain(), {"image_token": "<tool>", "video_token": "<video>", "not_a_tok": "<no>"}
    yield "own-token-key-with-decoder", plain(), {"image_token": "<tool>"} | decoder_of(_24=entry("<tool>"))
    yield "own-token-key-boxed", plain(), {"image_token": {"__type": "AddedToken", **entry("<tool>")}}
    yield "own-token-key-bool", plain(), {"add_bos_token": True, "add_eos_token": False, "split_special_tokens": True}
    yield "spaces-between", plain(), {"spaces_between_special_tokens": True}
    padding = {"strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
               "pad_type_id": 0, "pad_token": "<PADDING>"}  # fmt: skip
    yield "padding-in-tokenizer", plain(padding=padding), {}

    byte_tokens = ["Ġa", "b", "Ã", "©", "日本", "Ġ.", "<|endoftext|>"]
    spm_tokens = ["<unk>", "<s>", "</s>", "▁Hello", "▁world", "▁", "<0xE5>", "<0x8F>", "<0xAB>", "▁▁", ".", "<pad>", "<0x41>"]
    piece_tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", ".", "don", "'", "t", "##c"]
    uni_tokens = ["<s>", "<pad>", "</s>", "<unk>", "▁Hello", "▁world", "a", "▁▁b", "."]
    marks = [added("<x>", 50), added("<y>", 51, "s"), added("<Zé>", 52, "n"), added("▁▁▁", 53)]
    shapes = {
        "byte-level": (byte_tokens, BYTE_LEVEL, "BPE", None),
        "spm3": (spm_tokens, SPM3, "BPE", {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}),
        "spm4": (spm_tokens, SPM4, "BPE", {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}]}),
        "spm-metaspace": (spm_tokens, metaspace("first"), "BPE", None),
        "null": (spm_tokens, None, "BPE", None),
        "word-piece": (piece_tokens, word_piece(False), "WordPiece", {"type": "BertNormalizer", "clean_text": True,
                       "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}),
        "unigram": (uni_tokens, metaspace("never"), "Unigram", {"type": "Lowercase"}),
    }  # fmt: skip
    classes = {
        "byte-level": ("LlamaTokenizer", "LlamaTokenizerFast", "Qwen2Tokenizer", "Qwen2TokenizerFast", "GPT2Tokenizer",
                       "GPT2TokenizerFast", "CohereTokenizer", "CohereTokenizerFast", "GPTNeoXTokenizer",
                       "GPTNeoXTokenizerFast", "RobertaTokenizer", "RobertaTokenizerFast", "GemmaTokenizer",
                       "PreTrainedTokenizerFast", "PreTrainedTokenizer", "TokenizersBackend", "NoSuchTokenizer",
                       "Qwen3_5Tokenizer", "BloomTokenizerFast", "BartTokenizer"),
        "spm3": ("LlamaTokenizer", "LlamaTokenizerFast", "GemmaTokenizer", "GemmaTokenizerFast", "NoSuchTokenizerFast",
                 "PreTrainedTokenizerFast", "GPT2Tokenizer", "Qwen2Tokenizer", "CohereTokenizer"),
        "spm4": ("LlamaTokenizer", "GemmaTokenizer", "PreTrainedTokenizerFast"),
        "spm-metaspace": ("LlamaTokenizer", "GemmaTokenizer", "PreTrainedTokenizerFast"),
        "null": ("LlamaTokenizer", "GPT2Tokenizer", "PreTrainedTokenizerFast"),
        "word-piece": ("BertTokenizer", "BertTokenizerFast", "PreTrainedTokenizerFast", "DistilBertTokenizer",
                       "ElectraTokenizer"),
        "unigram": ("XLMRobertaTokenizer", "XLMRobertaTokenizerFast", "PreTrainedTokenizerFast"),
    }  # fmt: skip
    for shape, (tokens, decoder, model, normalizer) in shapes.items():
        value = tokenizer(tokens, marks, decoder, normalizer, model)
        for name in classes[shape]:
            config = {"tokenizer_class": name}
            yield f"class-{shape}-{name}", value, config
            yield f"class-{shape}-{name}-decoder", value, config | decoder_of(_50=entry("<x>", "s"), _60=entry("<W>", "n"))
            if shape in ("byte-level", "spm3", "unigram", "word-piece"):
                null = dict.fromkeys(f"{n}_token" for n in ("bos", "eos", "unk", "pad"))
                yield f"class-{shape}-{name}-named", value, config | {"eos_token": "<x>", "bos_token": "<bos>",
                      "additional_special_tokens": ["<x>", "<q>"], "image_token": "▁▁▁"}  # fmt: skip
                yield f"class-{shape}-{name}-null", value, config | null
                yield f"class-{shape}-{name}-clean", value, config | clean
    spm = tokenizer(spm_tokens, marks, SPM3, model="BPE")
    for flag in (True, False, None):
        yield f"llama-prefix-{flag}", spm, {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": flag}
    yield "llama-legacy", spm, {"tokenizer_class": "LlamaTokenizer", "legacy": True}
    yield "llama-pre-tokenizer-byte-level", spm | {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True,
          "trim_offsets": True}}, {"tokenizer_class": "LlamaTokenizer"}  # fmt: skip
    yield "llama-decoder-in-sequence", tokenizer(byte_tokens, marks, {"type": "Sequence", "decoders": [BYTE_LEVEL]},
          model="BPE"), {"tokenizer_class": "LlamaTokenizer"}  # fmt: skip
    uni = tokenizer(uni_tokens, marks, metaspace("never"), model="Unigram")
    for flag in (True, False):
        yield f"xlm-roberta-prefix-{flag}", uni, {"tokenizer_class": "XLMRobertaTokenizer", "add_prefix_space": flag}
    # Found by comparing thousands of random configs.
    both = {"extra_special_tokens": {"image_token": "<tool>"}, "additional_special_tokens": ["<a>", "b"]}
    yield "extra-map-and-additional", plain(), both
    yield "cohere-additional", tokenizer(byte_tokens, marks, BYTE_LEVEL, model="BPE"), decoder_of(_50=entry("<x>")) | {
        "tokenizer_class": "CohereTokenizer", "additional_special_tokens": ["<x>", boxed["pad_token"]]}  # fmt: skip
    yield "qwen-mask", tokenizer(byte_tokens, marks, BYTE_LEVEL, model="BPE"), decoder_of(_51=entry("<y>")) | {
        "tokenizer_class": "Qwen2Tokenizer", "mask_token": "<x>", "pad_token": "▁▁▁"}  # fmt: skip
    yield "stored-under-one-id", tokenizer("ab", [added("<A>", 3), added("<B>", 3)], FUSE), {"bos_token": "<A>"}
    yield "flags-follow-special", plain(normalizer={"type": "Lowercase"}), {
        "cls_token": {"__type": "AddedToken", "content": "<CLS>", "special": False},
        "sep_token": {"__type": "AddedToken", "content": "<SEP>", "normalized": True}}  # fmt: skip
    yield "additional-twice", plain(), decoder_of(_30=entry("<q>")) | {"additional_special_tokens": [
        "<tool>", {"__type": "AddedToken", **entry("<tool>")}]}  # fmt: skip
    yield "bert-cased", tokenizer(piece_tokens, [added("<HÉ>", 9, "n")], word_piece(True), shapes["word-piece"][3],
          "WordPiece"), {"tokenizer_class": "BertTokenizer", "do_lower_case": False}  # fmt: skip
    yield "auto-map", spm, {"tokenizer_class": "X", "auto_map": {"AutoTokenizer": ["x.X", None]}}


def handmade_item(name, value, config):
    out = {"name": name, "tokenizer": value, "config": config}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tokenizer.json").write_text(text_of(value), encoding="utf-8")
        if config is not None:
            Path(folder, "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
        load = Load(folder)
    out |= load.head()
    if load.tokenizer is None:
        return out
    known = sorted(load.tokenizer.get_vocab().values())
    lists = [[id] for id in range(known[-1] + 3)] + [known]
    random = Lcg(len(name))
    lists += [[random.below(known[-1] + 2) for _ in range(1 + random.below(8))] for _ in range(12)]
    out["cases"] = [{"ids": ids, "text": load.decode(ids, False), "skipped": load.decode(ids, True)} for ids in lists]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail when the committed file differs")
    options = parser.parse_args()
    versions = (transformers.__version__, tokenizers.__version__)
    if versions != VERSIONS.get(MAJOR):
        sys.exit(f"transformers and tokenizers are {versions} here, the oracle is {VERSIONS}: run scripts/venv.sh transformers4")
    manifest = json.loads((HERE / "tokenizers.json").read_text(encoding="utf-8"))["tokenizers"]
    made = [line(handmade_item(*item)) for item in items()]
    reals = [line(real(entry)) for entry in manifest]
    text = (
        f'{{"transformers":"{versions[0]}","tokenizers":"{versions[1]}",\n"handmade":[\n' + ",\n".join(made)
        + '\n],\n"real":[\n' + ",\n".join(reals) + "\n]}\n"
    )  # fmt: skip
    path = HERE / "compat" / f"transformers{MAJOR}.json"
    if options.check:
        same = path.is_file() and path.read_text(encoding="utf-8") == text
        print(f"{path.name}: {'as committed' if same else 'DIFFERENT'}")
        return 0 if same else 1
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path.name}: {len(made)} hand-made and {len(reals)} real tokenizers, {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
