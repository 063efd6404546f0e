"""What OpenTelemetry's own classes make of OTLP requests. Reads questions from the standard input, one JSON array a line."""

import base64
import json
import sys

from google.protobuf import json_format
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as Request
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse as Response

IDS = ("traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id")


def with_base64(value):
    """OTLP's ids are hexadecimal, where the JSON of protocol buffers has base64."""
    if isinstance(value, dict):
        return {key: base64.b64encode(bytes.fromhex(item)).decode() if key in IDS else with_base64(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_base64(item) for item in value]
    return value


def same(json_text, protobuf):
    """Whether a request in JSON and one in protocol buffers (base64) say the same."""
    expected = json_format.ParseDict(with_base64(json.loads(json_text)), Request(), ignore_unknown_fields=True)
    found = Request.FromString(base64.b64decode(protobuf))
    # Fields that are not set and lists differ from those with a default.
    return expected.SerializeToString(deterministic=True) == found.SerializeToString(deterministic=True) or f"{expected}\n---\n{found}"


MESSAGES = {"Request": Request, "Response": Response, "Status": Status}


def read(name, encoding, base64_body):
    """A message in one of the two encodings as an object, without fields that have their default."""
    body = base64.b64decode(base64_body)
    message = MESSAGES[name]
    parsed = json_format.Parse(body, message()) if encoding == "application/json" else message.FromString(body)
    return json_format.MessageToDict(parsed)


FUNCTIONS = {function.__name__: function for function in (same, read)}
for line in sys.stdin:
    question, args = json.loads(line)
    print(json.dumps({"result": FUNCTIONS[question](*args)}), flush=True)
