"""Reads the bodies that `write` made with what the backends read them with, and compares each span, field by field.

    cargo test --test write; "$(scripts/venv.sh write)" tests/oracle/write_check.py target/write/made-by-hand

Each folder holds `spans.json`, a list of spans as JavaScript has them, and a body of it for each format. Who reads them:
OpenTelemetry's messages of protocol buffers, and MLflow's ingestion behind them; MLflow's `TraceData`; the models that
Weave's trace service checks calls with; Trackio's server, which is asked for its traces afterwards.
"""

import base64
import datetime
import functools
import importlib
import importlib.util
import itertools
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import types

HASH_START, HASH_FACTOR = 0xCBF29CE484222325, 0x100000001B3
TRAJECTORY = {
    "step": "step",
    "sampleIndex": "sample_index",
    "rolloutN": "rollout_n",
    "validate": "validate",
    "experimentName": "experiment_name",
}
MODELS = {
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "mlflow.llm.model",
    "llm.hosted_vllm.model",
    "agentlightning.operation.output.model",
    "model",
}
MOST_NESTED = 24
comparisons = 0


def check(got, wanted, *where):
    """One value against another; numbers of other types are others, NaN is NaN."""
    global comparisons
    comparisons += 1
    assert same(got, wanted), f"{' '.join(map(str, where))}\n     got: {got!r}\n  wanted: {wanted!r}"


class TooLarge(float):
    """A number such as 1e400, which is written as it stands and is infinite to Python."""


def number(text):
    return float(text) if math.isfinite(float(text)) else TooLarge(text)


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return repr(float(a)) == repr(float(b))
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def changed(value, change):
    """The value with all that is in it changed, from the inside out."""
    if isinstance(value, dict):
        return change({change(key): changed(item, change) for key, item in value.items()})
    if isinstance(value, list):
        return change([changed(item, change) for item in value])
    return change(value)


def whole_text(value):
    return re.sub("[\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else value


def parsed(text):
    """The JSON in a member of a span, as it is to be written."""
    return None if text is None else changed(json.loads(text, parse_float=number), whole_text)


class Span:
    """A span and what is wanted of it."""

    def __init__(self, span):
        self.span = span
        self.inputs = parsed(span.get("inputs"))
        self.output = parsed(span.get("output"))
        self.own = parsed(span.get("attributes")) or {}
        self.events = parsed(span.get("events")) or []
        self.trajectory = {name: whole_text(span[key]) for key, name in TRAJECTORY.items() if key in span}
        self.attributes = {**self.trajectory, **self.own}
        self.name = whole_text(span.get("name", ""))
        self.error = whole_text(span.get("error"))
        self.model = whole_text(span.get("model"))
        self.status = span.get("status", "unset")
        self.start, self.end = (int(span[key]) if key in span else None for key in ("startUnixNano", "endUnixNano"))
        self.trace_id, self.span_id, self.parent_id = (span.get(key) or None for key in ("traceId", "spanId", "parentId"))

    def has(self, name):
        return name in self.span

    def with_model(self):
        named = self.model is None or MODELS & self.attributes.keys()
        return self.attributes if named else {**self.attributes, "gen_ai.request.model": self.model}


def hashed(*texts):
    value = HASH_START
    for text in texts:
        for byte in text.encode() + b"\xff":
            value = (value ^ byte) * HASH_FACTOR % 2**64
    return f"{value:016x}"


def hex_id(text, digits):
    plain = (text.removeprefix("tr-") if digits == 32 else text).replace("-", "").lower()
    if re.fullmatch(f"[0-9a-f]{{{digits}}}", plain) and int(plain, 16):
        return plain
    return hashed(text) if digits == 16 else hashed(text) + hashed(text, hashed(text))


def check_ids(spans, ids):
    """`ids` has for each span its trace, itself and the span around it, as hexadecimal digits."""
    assert len({span for _, span, _ in ids}) == len(ids), "two spans have one id"
    by_id = {span.span_id: trace for span, (trace, _, _) in zip(spans, ids) if span.span_id}
    for span, (trace, own, parent) in zip(spans, ids):
        assert re.fullmatch("[0-9a-f]{32}", trace) and int(trace, 16), trace
        assert re.fullmatch("[0-9a-f]{16}", own) and int(own, 16), own
        if span.trace_id:
            check(trace, hex_id(span.trace_id, 32), span.name, "trace id")
        elif span.parent_id in by_id:
            check(trace, by_id[span.parent_id], span.name, "trace id")
        if span.span_id:
            check(own, hex_id(span.span_id, 16), span.name, "span id")
        check(parent, span.parent_id and hex_id(span.parent_id, 16), span.name, "parent id")


# OTLP


def any_value(value):
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [any_value(item) for item in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: any_value(pair.value) for pair in value.kvlist_value.values}
    return getattr(value, kind)


def is_json(value):
    """Whether MLflow takes a string for what is in it."""
    try:
        return isinstance(value, str) and isinstance(json.loads(value), (str, list, dict))
    except ValueError:
        return False


def in_otlp(value, got, depth=0):
    """What a value is in OTLP: numbers that fit no type and what is nested too deep are text."""
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return str(value)
    if isinstance(value, float) and math.isinf(value) and isinstance(got, str):
        assert re.fullmatch(r"-?\d[\d.e+-]*", got) and float(got) == value, got
        return got
    if isinstance(value, (dict, list)) and depth == MOST_NESTED:
        assert isinstance(got, str) and same(changed(json.loads(got), whole_text), value)
        return got
    if isinstance(value, list):
        return [in_otlp(item, other, depth + 1) for item, other in zip(value, got)]
    if isinstance(value, dict):
        return {key: in_otlp(item, got[key], depth + 1) for key, item in value.items()}
    return value


def check_otlp(spans, request, where):
    from mlflow.entities import Span as MlflowSpan
    from mlflow.tracing.otel.translation import translate_span_when_storing

    found = [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]
    check(len(found), len(spans), where, "number of spans")
    ids = [(span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex() or None) for span in found]
    check_ids(spans, ids)
    for span, got in zip(spans, found):
        place = f"{where}, {span.name!r}:"
        check(got.name, span.name, place, "name")
        check(got.start_time_unix_nano, span.start or 0, place, "start")
        check(got.end_time_unix_nano, span.end or 0, place, "end")
        check(got.status.code, ["unset", "ok", "error"].index(span.status), place, "status")
        check(got.status.message, span.error or "", place, "error")
        attributes = {pair.key: any_value(pair.value) for pair in got.attributes}
        check(len(got.attributes), len(attributes), place, "one attribute a key")
        wanted = span.with_model()
        stored = translate_span_when_storing(MlflowSpan.from_otel_proto(got))["attributes"]
        for key, value in [("mlflow.spanInputs", span.inputs), ("mlflow.spanOutputs", span.output)]:
            if not span.has("inputs" if key.endswith("Inputs") else "output"):
                continue
            got_value = attributes.pop(key)
            is_scalar = value is None or isinstance(value, (bool, int, float))
            check(got_value if is_scalar else json.loads(got_value), value, place, key)
            check(json.loads(stored[key]), value, place, "in MLflow", key)
            wanted = {name: other for name, other in wanted.items() if name != key}
        if not span.parent_id:
            for name, value in span.trajectory.items():
                check(attributes.pop(f"mlflow.traceTag.{name}"), str(value), place, "tag", name)
        is_of_mlflow = any(key.startswith("mlflow.") for key in span.attributes)
        check(attributes.keys(), wanted.keys(), place, "names of attributes")
        for key, value in wanted.items():
            value = in_otlp(value, attributes[key])
            is_reread = is_json(value)
            if is_of_mlflow and is_reread:
                check(json.loads(attributes[key]), value, place, key)
            else:
                check(attributes[key], value, place, key)
            if key != "mlflow.traceRequestId":
                in_mlflow = json.loads(value) if is_reread and not is_of_mlflow else value
                check(json.loads(stored[key]), in_mlflow, place, "in MLflow", key)
        check(len(got.events), len(span.events), place, "events")
        for event, wanted in zip(got.events, span.events):
            check_event(event.name, event.time_unix_nano, {pair.key: any_value(pair.value) for pair in event.attributes}, wanted, place, True)


def check_event(name, time, attributes, wanted, place, is_otlp=False):
    wanted = wanted if isinstance(wanted, dict) else {}
    named = wanted.get("name")
    check(name, named if isinstance(named, str) else "", place, "name of an event")
    check(time, int(wanted.get("timeUnixNano", wanted.get("time_unix_nano", 0))), place, "time of an event")
    others = {key: value for key, value in wanted.items() if key not in ("name", "timeUnixNano", "time_unix_nano")}
    wanted = wanted.get("attributes", others)
    check(attributes, in_otlp(wanted, attributes) if is_otlp else wanted, place, "attributes of an event")


def otlp_proto(spans, body):
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    check_otlp(spans, ExportTraceServiceRequest.FromString(body), "otlp-proto")


def otlp_json(spans, body):
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    def refuse(literal):
        raise ValueError(f"{literal} is not JSON")

    request = json.loads(body, parse_constant=refuse)
    # OTLP spells ids in hexadecimal where protocol buffers have base64, which is what MLflow's server changes too.
    for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        for key in ("traceId", "spanId", "parentSpanId"):
            if key in span:
                span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    check_otlp(spans, json_format.ParseDict(request, ExportTraceServiceRequest()), "otlp-json")


# MLflow


def mlflow(spans, body):
    from mlflow.entities.trace_data import TraceData

    found = TraceData.from_dict(json.loads(body)).spans
    check(len(found), len(spans), "mlflow", "number of spans")
    ids = [(span.trace_id.removeprefix("tr-"), span.span_id, span.parent_id) for span in found]
    check_ids(spans, ids)
    for span, got in zip(spans, found):
        place = f"mlflow, {span.name!r}:"
        check(got.name, span.name, place, "name")
        check(got.start_time_ns, span.start or span.end or 0, place, "start")
        check(got.end_time_ns, span.end, place, "end")
        check(got.status.status_code.value, span.status.upper(), place, "status")
        check(got.status.description or "", span.error or "", place, "error")
        check(got.inputs, span.inputs, place, "inputs")
        check(got.outputs, span.output, place, "output")
        attributes = dict(got.attributes)
        for key, name in [("mlflow.spanInputs", "inputs"), ("mlflow.spanOutputs", "output")]:
            if span.has(name):
                attributes.pop(key)
        wanted = {**span.with_model(), "mlflow.traceRequestId": got.trace_id}
        for key, name in [("mlflow.spanInputs", "inputs"), ("mlflow.spanOutputs", "output")]:
            if span.has(name):
                wanted.pop(key, None)
        check(attributes, wanted, place, "attributes")
        check(len(got.events), len(span.events), place, "events")
        for event, wanted in zip(got.events, span.events):
            check_event(event.name, event.timestamp, dict(event.attributes), wanted, place)
        check(got.links, [], place, "links")


# Weave


@functools.cache
def weave_models():
    """Weave's models without the rest of the package, which wants its client's libraries."""
    folder = importlib.util.find_spec("weave").submodule_search_locations[0]
    paths = {"weave": [folder], "weave.shared": [f"{folder}/shared"], "gql": [], "gql.transport": []}
    for name, path in paths.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = path
    errors = types.ModuleType("gql.transport.exceptions")
    errors.TransportQueryError = errors.TransportServerError = Exception
    sys.modules[errors.__name__] = errors
    return importlib.import_module("weave.shared.trace_server_interface")


def null_for_nan(value):
    """As Weave's client writes them."""
    return None if type(value) is float and not math.isfinite(value) else value


def weave(spans, body):
    def refuse(literal):
        raise ValueError(f"{literal} is not JSON")

    json.loads(body, parse_constant=refuse)
    found = weave_models().CallsUpsertCompleteReq.model_validate_json(body).batch
    check(len(found), len(spans), "weave", "number of calls")
    assert len({(call.trace_id, call.id) for call in found}) == len(found)
    for span, got in zip(spans, found):
        place = f"weave, {span.name!r}:"
        wanted = changed(span.attributes, null_for_nan)
        check(got.project_id, "entity/project", place, "project")
        if span.trace_id:
            check(got.trace_id, span.trace_id, place, "trace id")
        if span.span_id:
            check(got.id, span.span_id, place, "id")
        check(got.parent_id, span.parent_id, place, "parent id")
        check(got.op_name, span.name, place, "op")
        start = span.start if span.start is not None else span.end or 0
        check(micros(got.started_at), start // 1000, place, "start")
        check(micros(got.ended_at), (span.end if span.end is not None else start) // 1000, place, "end")
        inputs = changed(span.inputs, null_for_nan)
        has_model = isinstance(inputs, dict) and "model" in inputs
        if span.model is not None and not has_model:
            wanted.setdefault("model", span.model)
        check(dict(got.attributes), wanted, place, "attributes")
        wanted = inputs if isinstance(inputs, dict) else {} if inputs is None else {"inputs": inputs}
        check(dict(got.inputs), wanted, place, "inputs")
        check(got.output, changed(span.output, null_for_nan), place, "output")
        counts = {"ok": {"success": 1, "error": 0}, "error": {"success": 0, "error": 1}}.get(span.status)
        check(dict(got.summary), {"status_counts": counts} if counts else {}, place, "summary")
        check(got.exception, span.error or ("error" if span.status == "error" else None), place, "exception")


def micros(time):
    return (time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def iso_micros(text):
    return None if text is None else micros(datetime.datetime.fromisoformat(text))


# Trackio


def for_trackio(value):
    """Integers of more than 64 bits, which its server cannot store, are text."""
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_integer and not -(2**63) <= value < 2**64 else value


def client_floats(value):
    """As its client sends the numbers that JSON has not."""
    if type(value) is float and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def served_floats(value):
    """As its server gives them back: null as members, strings in lists."""
    if isinstance(value, dict):
        return {key: None if item in ("NaN", "Infinity", "-Infinity") else item for key, item in value.items()}
    return value


@functools.cache
def trackio_client():
    """A client of a server with no traces."""
    folder = tempfile.TemporaryDirectory()
    os.environ.update(TRACKIO_DIR=folder.name, HF_HOME=f"{folder.name}/hf", HF_HUB_OFFLINE="1", TRACKIO_WRITE_TOKEN="token")
    from starlette.testclient import TestClient
    from trackio import server
    from trackio.asgi_app import create_trackio_starlette_app

    app = create_trackio_starlette_app([], server._api_registry(), write_apis=server.WRITE_APIS)
    return folder, TestClient(app, headers={"x-trackio-write-token": "token"}), itertools.count()


def trackio(spans, body):
    _, client, numbers = trackio_client()
    project = f"rollouts-{next(numbers)}"
    body = body.replace(b'{"project":"rollouts"', b'{"project":"%s"' % project.encode())
    for _ in range(2):
        # The second time says what the first said, and is ignored.
        answer = client.post("/api/bulk_log", content=body)
        check(answer.status_code, 200, "trackio", answer.text)
    answer = client.post("/api/get_traces", json={"project": project, "run_id": "0123456789abcdef"})
    stored = json.loads(answer.content)["data"]
    by_ids = {ids_of(trace): trace for trace in stored}
    check(len(by_ids), len(stored), "trackio", "a trace for each pair of ids")
    # The server answers in an order of its own; the body has an entry for each outermost span, in the order of the spans.
    sent = [trace for log in json.loads(body)["logs"] for [trace] in log["metrics"].values()]
    roots = outermost(spans)
    check(len(sent), len({id(root) for root in roots}), "trackio", "a trace for each outermost span")
    check(len(stored), len(sent), "trackio", "number of traces")
    in_order = [span for span, root in zip(spans, roots) if span is root]
    for span, trace in zip(in_order, [by_ids[ids_of(trace)] for trace in sent]):
        place = f"trackio, {span.name!r}:"
        check_trace(trace, span, place)
        inside = [other for other, root in zip(spans, roots) if root is span and other is not span]
        check(len(trace["spans"]), 1 + len(inside) if inside else 0, place, "number of spans")
        if inside:
            check(trace["spans"][0]["id"], trace["metadata"]["span_id"], place, "id of the outermost span")
            check_item(trace["spans"][0], span, place, False)
        for item, other in zip(trace["spans"][1:], inside):
            check_item(item, other, f"trackio, {span.name!r}, {other.name!r}:", True)


def ids_of(trace):
    return trace["metadata"]["trace_id"], trace["metadata"]["span_id"]


def outermost(spans):
    """For each span the outermost around it in the list; of a circle the one that is met first."""
    own = {span.span_id: span for span in spans if span.span_id}
    traces = {}
    for span in spans:
        # One without a trace is in that of the span around it.
        at, seen = span, set()
        while at and not at.trace_id and id(at) not in seen:
            seen.add(id(at))
            at = own.get(at.parent_id)
        traces[id(span)] = at and at.trace_id
    in_traces = {(traces[id(span)], span.span_id): span for span in spans if span.span_id}
    found = {}
    for span in spans:
        at, path = span, []
        while id(at) not in found and at not in path:
            path.append(at)
            at = in_traces.get((traces[id(at)], at.parent_id), at) if at.parent_id else at
        for passed in path:
            found[id(passed)] = found.get(id(at), at)
    return [found[id(span)] for span in spans]


def check_times(got, span, place):
    check(iso_micros(got.get("start_time")), None if span.start is None else span.start // 1000, place, "start")
    check(iso_micros(got.get("end_time")), None if span.end is None else span.end // 1000, place, "end")
    if span.start is not None and span.end is not None and span.end >= span.start:
        check(got["duration_ms"], (span.end - span.start) / 1e6, place, "duration")


def check_item(got, span, place, has_values):
    check(got["name"], span.name, place, "name")
    if span.span_id:
        check(got["id"], span.span_id, place, "id")
    check(got.get("parent_id"), span.parent_id, place, "parent id")
    check_times(got, span, place)
    check(got.get("status"), {"ok": "success", "error": "error"}.get(span.status), place, "status")
    check(got.get("error"), span.error, place, "error")
    check(got.get("model"), span.model, place, "model")
    wanted = {}
    if has_values:
        wanted = {key: value for key, value in [("input", span.inputs), ("output", span.output)] if span.has("inputs" if key == "input" else key)}
        check(got["metadata"], in_trackio(span.attributes), place, "metadata")
    for key, value in wanted.items():
        check(got[key], in_trackio(value), place, key)


def in_trackio(value):
    value = changed(value, lambda item: float(item) if isinstance(item, TooLarge) else item)
    return changed(changed(changed(value, for_trackio), client_floats), served_floats)


def check_trace(trace, span, place):
    check(trace["key"], "rollout_trace/" + re.sub(r"[^0-9A-Za-z._-]", "_", span.name), place, "key")
    if span.trajectory.get("step") is not None:
        check(trace["step"], span.trajectory["step"], place, "step")
    metadata = dict(trace["metadata"])
    for key, value in [("trace_id", span.trace_id), ("span_id", span.span_id)]:
        assert metadata[key], place
        if value:
            check(metadata[key], value, place, key)
    wanted = {**in_trackio(span.attributes), **in_trackio(span.trajectory), "op": span.name, "span_id": metadata["span_id"], "trace_id": metadata["trace_id"]}
    has = {"start_time": span.start is not None, "end_time": span.end is not None}
    has["duration_ms"] = all(has.values()) and span.end >= span.start
    # What the span does not have, an attribute may be called.
    own = [key for key, is_there in has.items() if is_there]
    check_times({key: metadata.pop(key) for key in own}, span, place)
    wanted = {key: value for key, value in wanted.items() if key not in own}
    for key, value in [("inputs", span.inputs), ("output", span.output)]:
        if span.has(key):
            wanted[key] = in_trackio(value)
    for key, value in [("error", span.error), ("model", span.model), ("parent_id", span.parent_id), ("status", {"ok": "success", "error": "error"}.get(span.status))]:
        if value is not None:
            wanted[key] = value
    check(metadata, wanted, place, "metadata")
    messages = trace["messages"]
    has_messages = isinstance(span.inputs, dict) and isinstance(span.inputs.get("messages"), list)
    if has_messages:
        check(messages[:-1], span.inputs["messages"], place, "messages")
    else:
        check(messages[0], {"role": "system", "content": f"verl rollout trace operation: {span.name}"}, place, "system message")
        check(parsed(messages[1]["content"]), {"inputs": for_messages(span.inputs if span.has("inputs") else {})}, place, "user message")
    said = messages[-1]["content"]
    check(messages[-1]["role"], "assistant", place, "role")
    output = span.output if isinstance(span.output, dict) else {}
    text = next((output[key] for key in ("response_text", "answer") if isinstance(output.get(key), str) and output[key]), None)
    if text is None and not span.has("output") and span.error:
        text = span.error
    if text is None:
        check(parsed(said), {"output": for_messages(span.output)}, place, "assistant message")
    else:
        check(said, text, place, "assistant message")


def for_messages(value):
    return changed(changed(value, for_trackio), client_floats)


def record(spans, body):
    lines = body.decode().split("\n")[:-1]
    check(len(lines), len(spans), "record", "number of lines")
    for span, line in zip(spans, lines):
        wanted = {key: value for key, value in span.span.items() if value != "" and (key, value) != ("status", "unset")}
        wanted = changed(wanted, whole_text)
        for key in ("inputs", "output", "attributes", "events"):
            if key in wanted:
                wanted[key] = parsed(span.span[key])
        check(json.loads(line), wanted, "record", repr(span.name))


def weave_refuses(span):
    values = {"attributes": span.attributes, "inputs": {"inputs": span.inputs}, "output": span.output}
    try:
        weave_models().CallsUpsertCompleteReq.model_validate_json(json.dumps({"batch": [values]}))
    except ValueError as error:
        answer = str(error)
    else:
        answer = "accepted"
    check("recursion limit exceeded" in answer, True, "weave, refused:", repr(span.name), answer)


def trackio_refuses(span):
    _, client, numbers = trackio_client()
    metadata = {"metadata": span.attributes, "input": span.inputs, "output": span.output}
    trace = {"_type": "trackio.trace", "messages": [], "metadata": {}, "spans": [metadata]}
    log = {"project": f"refused-{next(numbers)}", "run": "a", "run_id": "a", "step": 0, "config": None, "metrics": {"a": [trace]}}
    answer = client.post("/api/bulk_log", content=json.dumps({"hf_token": None, "logs": [log]}))
    check((answer.status_code, "Recursion limit" in answer.text), (500, True), "trackio, refused", repr(span.name))


# For what `write` refuses as too deep: whether the backend does so too.
REFUSALS = {"weave.json": weave_refuses, "trackio.json": trackio_refuses}

READERS = {
    "otlp.pb": otlp_proto,
    "otlp.json": otlp_json,
    "mlflow.json": mlflow,
    "weave.json": weave,
    "trackio.json": trackio,
    "record.jsonl": record,
}


def main():
    assert sys.argv[1:], __doc__
    for folder in map(pathlib.Path, sys.argv[1:]):
        spans = [Span(span) for span in json.loads((folder / "spans.json").read_text())]
        assert spans, folder
        refused = json.loads((folder / "refused.json").read_text())
        for file, reader in READERS.items():
            before = comparisons
            for place in refused[file]:
                REFUSALS[file](spans[place])
            reader([span for i, span in enumerate(spans) if i not in refused[file]], (folder / file).read_bytes())
            assert comparisons > before, (folder, file)
            print(f"{folder.name}/{file}: {comparisons - before} comparisons")
    print(f"{comparisons} comparisons")


main()
