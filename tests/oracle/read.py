"""Reads the recorded requests of OTLP with OpenTelemetry's own classes, or as JSON, and writes the facts of their spans.

    "$(scripts/venv.sh otlp)" tests/oracle/read.py [FOLDER] > tests/oracle/read.json

`cargo test --test read` compares with them what `read` makes of the same bodies: facts as they are, JSON texts by digest.
"""

import base64
import json
import math
import pathlib
import sys

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as Request

ROOT = pathlib.Path(__file__).parent.parent.parent
SOURCES = {"inputs": ["mlflow.spanInputs", "input.value"], "output": ["mlflow.spanOutputs", "output.value"]}
STATUS = {0: "unset", 1: "ok", 2: "error"}


class Raw(str):
    """A number as it is spelled."""


def text(value):
    """The JSON text of a value, as `json.dumps` writes it without spaces and with all characters as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{text(key)}:{text(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def members(pairs):
    """An object of pairs; of those with one key the last counts, where it stands."""
    out = {}
    for key, value in pairs:
        out.pop(key, None)
        out[key] = value
    return out


def of_proto(value):
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [of_proto(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return members((pair.key, of_proto(pair.value)) for pair in value.kvlist_value.values)
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode()
    return getattr(value, kind) if kind else None


def of_json(value):
    out = None
    for kind, content in (value or {}).items():
        kind = kind.replace("_v", "V")
        if kind == "arrayValue":
            out = [of_json(item) for item in content.get("values", [])]
        elif kind == "kvlistValue":
            out = members((pair.get("key", ""), of_json(pair.get("value"))) for pair in content.get("values", []))
        elif kind in ("intValue", "doubleValue"):
            out = None if content is None else Raw(content)
        elif kind.endswith("Value"):
            out = content
    return out


def shown(attributes):
    """The JSON texts of the inputs, the output, and of the other attributes."""
    out = {}
    for name, keys in SOURCES.items():
        key = next((key for key in keys if attributes.get(key) is not None), None)
        out[name] = text(attributes.pop(key)) if key else None
        if key and out[name].startswith('"'):
            inside = json.loads(out[name])
            try:
                if isinstance(json.loads(inside), (dict, list, str)):
                    out[name] = inside.strip(" \n\r\t")
            except ValueError:
                pass
    return out


def hashed(texts):
    return {key: value if value is None else digest(value.encode()) for key, value in texts.items()}


def digest(data):
    """FNV-1a of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def proto_spans(data):
    request = Request.FromString(data)
    for span in (s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans):
        attributes = members((pair.key, of_proto(pair.value)) for pair in span.attributes)
        texts = shown(attributes)
        texts["attributes"] = text(attributes) if span.attributes else None
        events = []
        for event in span.events:
            fields = {"name": event.name, "time_unix_nano": event.time_unix_nano}
            fields = {key: value for key, value in fields.items() if value}
            if event.attributes:
                fields["attributes"] = members((pair.key, of_proto(pair.value)) for pair in event.attributes)
            events.append(fields)
        texts["events"] = text(events) if events else None
        facts = {
            "trace_id": span.trace_id.hex(),
            "span_id": span.span_id.hex(),
            "parent_id": span.parent_span_id.hex().strip("0") and span.parent_span_id.hex() or None,
            "name": span.name,
            "start": span.start_time_unix_nano,
            "end": span.end_time_unix_nano,
            "status": STATUS[span.status.code],
            "error": span.status.message or None,
        }
        yield {"facts": facts, **hashed(texts)}


def get(members, camel, default=None):
    snake = "".join("_" + c.lower() if c.isupper() else c for c in camel)
    return members.get(camel, members.get(snake, default))


def json_spans(data):
    request = json.loads(data, parse_float=Raw, parse_int=Raw)
    scopes = [s for r in get(request, "resourceSpans") for s in get(r, "scopeSpans")]
    for span in (s for scope in scopes for s in scope["spans"]):
        attributes = members((pair.get("key", ""), of_json(pair.get("value"))) for pair in span.get("attributes", []))
        texts = shown(attributes)
        texts["attributes"] = text(attributes) if "attributes" in span else None
        events = []
        for event in span.get("events", []):
            fields = {"name": event.get("name"), "time_unix_nano": get(event, "timeUnixNano")}
            fields["time_unix_nano"] = fields["time_unix_nano"] and Raw(fields["time_unix_nano"])
            fields = {key: value for key, value in fields.items() if value is not None}
            if "attributes" in event:
                fields["attributes"] = members((p.get("key", ""), of_json(p.get("value"))) for p in event["attributes"])
            events.append(fields)
        texts["events"] = text(events) if "events" in span else None
        status = span.get("status") or {}
        code = status.get("code", 0)
        parent = get(span, "parentSpanId") or ""
        facts = {
            "trace_id": get(span, "traceId").lower(),
            "span_id": get(span, "spanId").lower(),
            "parent_id": parent.lower() if parent.strip("0") else None,
            "name": span.get("name", ""),
            "start": int(get(span, "startTimeUnixNano", 0)),
            "end": int(get(span, "endTimeUnixNano", 0)),
            "status": code[len("STATUS_CODE_") :].lower() if str(code).startswith("S") else STATUS[int(code)],
            "error": status.get("message") or None,
        }
        yield {"facts": facts, **hashed(texts)}


def main():
    assert text(math.nan) == "NaN" and text(1e16) == "1e+16"
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/fixtures/wire"
    facts = {}
    for meta in sorted([*root.glob("otlp/*/meta.json"), *root.glob("mlflow/*/meta.json")]):
        for file in json.loads(meta.read_text())["files"]:
            path = meta.parent / file["file"]
            if file["format"].startswith("otlp") and path.exists():
                read = proto_spans if file["format"] == "otlp-proto" else json_spans
                facts[f"{meta.parent.name}/{file['file']}"] = list(read(path.read_bytes()))
    lines = (f"{json.dumps(name)}: {json.dumps(spans, ensure_ascii=False)}" for name, spans in facts.items())
    print("{\n" + ",\n".join(lines) + "\n}")
    print(f"{len(facts)} bodies, {sum(map(len, facts.values()))} spans", file=sys.stderr)


main()
