"""Reads the bodies that `cargo test --test wire` wrote to target/otlp with OpenTelemetry's own classes, field by field.

    cargo test --test wire; "$(scripts/venv.sh otlp)" tests/oracle/otlp.py

An enriched body must be the body it was made of and texts that the capture expects, nothing else; one whose ids were
dropped must be the enriched one without lists of ids. The digests of the
bodies that were found so go to tests/oracle/otlp.json, with which the test compares.
"""

import json
import pathlib
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as Request

ROOT = pathlib.Path(__file__).parent.parent.parent
BODIES = ROOT / "target/otlp"
CAPTURES = ROOT / "tests/fixtures/wire"
OURS = {"prompt_text", "response_text", "text", "token2text.prompt_text", "token2text.response_text"}
IDS = {"prompt_ids", "response_ids", "token_ids", "prompt_token_ids", "response_token_ids", "responses_ids"}


def parse(path):
    if path.suffix == ".pb":
        return Request.FromString(path.read_bytes())
    return json_format.Parse(path.read_text(), Request(), ignore_unknown_fields=True)


def texts_between(before, after, added, where):
    """Collects the texts that `after` has more; all else must be the same."""
    if isinstance(before, str):
        if before != after:
            json_texts(json.loads(before, object_pairs_hook=Pairs), json.loads(after, object_pairs_hook=Pairs), added, where)
        return
    if not hasattr(before, "DESCRIPTOR"):
        # repr: NaN is not itself.
        assert repr(before) == repr(after), (where, before, after)
        return
    assert {f.number for f, _ in before.ListFields()} <= {f.number for f, _ in after.ListFields()}, where
    for field, value in after.ListFields():
        old = getattr(before, field.name)
        place = f"{where}.{field.name}"
        if not field.is_repeated:
            texts_between(old, value, added, place)
            continue
        old, new = list(old), list(value)
        if field.message_type and field.message_type.name == "KeyValue":
            # A text that took the place of a value that was none has no counterpart either.
            there = {pair.key: pair for pair in old if pair.key in OURS}
            for pair in new[:]:
                if pair.key in OURS and pair != there.get(pair.key):
                    new.remove(pair)
                    added.extend(strings(pair.value))
                    if pair.key in there:
                        old.remove(there[pair.key])
        assert len(old) == len(new), (place, len(old), len(new))
        for i, (left, right) in enumerate(zip(old, new)):
            texts_between(left, right, added, f"{place}[{i}]")


def ids_between(before, after, gone, where):
    """Collects the keys of ids that `before` has more; all else must be the same."""
    if isinstance(before, str):
        if before != after:
            json_ids(json.loads(before, object_pairs_hook=Pairs), json.loads(after, object_pairs_hook=Pairs), gone, where)
        return
    if not hasattr(before, "DESCRIPTOR"):
        assert repr(before) == repr(after), (where, before, after)
        return
    assert {f.number for f, _ in before.ListFields()} >= {f.number for f, _ in after.ListFields()}, where
    for field, value in before.ListFields():
        new = getattr(after, field.name)
        place = f"{where}.{field.name}"
        if not field.is_repeated:
            ids_between(value, new, gone, place)
            continue
        old, new = list(value), list(new)
        if field.message_type and field.message_type.name == "KeyValue":
            keys = {pair.key for pair in new}
            gone.update(pair.key for pair in old if pair.key not in keys)
            old = [pair for pair in old if pair.key in keys]
        assert len(old) == len(new), (place, len(old), len(new))
        for i, (left, right) in enumerate(zip(old, new)):
            ids_between(left, right, gone, f"{place}[{i}]")


def json_ids(before, after, gone, where):
    if isinstance(before, Pairs):
        keys = {key for key, _ in after}
        gone.update(key for key, _ in before if key not in keys)
        before = Pairs(pair for pair in before if pair[0] in keys)
        assert [key for key, _ in before] == [key for key, _ in after], where
        before, after = [value for _, value in before], [value for _, value in after]
    if isinstance(before, list):
        assert len(before) == len(after), where
        for left, right in zip(before, after):
            json_ids(left, right, gone, where)
    else:
        assert repr(before) == repr(after), (where, before, after)


class Pairs(list):
    """The members of a JSON object, in order."""


def json_texts(before, after, added, where):
    if isinstance(before, Pairs):
        keys = [key for key, _ in before]
        added.extend(value for key, value in after if key in OURS and key not in keys)
        after = Pairs(pair for pair in after if pair[0] not in OURS or pair[0] in keys)
        assert keys == [key for key, _ in after], (where, keys)
        before, after = [value for _, value in before], [value for _, value in after]
    if isinstance(before, list):
        assert len(before) == len(after), where
        for left, right in zip(before, after):
            json_texts(left, right, added, where)
    else:
        assert repr(before) == repr(after), (where, before, after)


def strings(value):
    """The texts of an attribute; MLflow's spans have them as JSON."""
    if value.WhichOneof("value") == "array_value":
        return [text for item in value.array_value.values for text in strings(item)]
    return [value.string_value]


def wanted(entry):
    text = entry.get("text_if_converted", entry["text"])
    return text if isinstance(text, list) else [text]


def digest(data):
    """FNV-1a of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def main():
    checked = {}
    for path in sorted(BODIES.glob("*.enriched.*")):
        original = path.with_name(path.name.replace(".enriched.", "."))
        capture, _, file = original.name.partition("+")
        added = []
        texts_between(parse(original), parse(path), added, file)
        expected = json.loads(next(CAPTURES.glob(f"*/{capture}/expected.json")).read_text())
        texts = {text for entry in expected if any(place.startswith(file) for place in entry["where"]) for text in wanted(entry)}
        for text in added:
            plain = json.loads(text) if text.startswith('"') and text not in texts else text
            # Events, of which the hand-made captures list none, hold the first ids of a list.
            is_of_event = capture.startswith("synthetic") and any(known and known.startswith(plain.rstrip("\ufffd")) for known in texts)
            assert plain in texts or is_of_event, (path.name, plain)
        dropped, gone = path.with_name(path.name.replace(".enriched.", ".dropped.")), set()
        ids_between(parse(path), parse(dropped), gone, file)
        assert all(IDS.intersection(key.split(".")) for key in gone), (path.name, gone)
        checked[original.name] = {
            "texts": len(added),
            "digest": digest(path.read_bytes()),
            "gone": sorted(gone),
            "dropped": digest(dropped.read_bytes()),
        }
    assert len(checked) >= 6, checked
    with open(ROOT / "tests/oracle/otlp.json", "w") as out:
        json.dump(checked, out, indent=1)
        out.write("\n")
    print(f"{len(checked)} bodies, {sum(entry['texts'] for entry in checked.values())} texts", file=sys.stderr)


main()
