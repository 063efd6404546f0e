"""Sends traces by OpenTelemetry's own SDK and exporter, each again until it is acknowledged, and prints their spans as JSON.

    otel_load.py ENDPOINT TRACES SECONDS

The traces are spread over so many seconds.
"""

import json
import logging
import sys
import time

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

endpoint, traces, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
# Nobody is there now and then.
logging.disable()
# Too short for a second attempt of its own.
exporter = OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=0.7)
memory = InMemorySpanExporter()
provider = TracerProvider(resource=Resource({"service.name": "load"}))
provider.add_span_processor(SimpleSpanProcessor(memory))
tracer = provider.get_tracer("tests")

acknowledged = []
start = time.monotonic()
for number in range(traces):
    time.sleep(max(0, start + number * seconds / traces - time.monotonic()))
    with tracer.start_as_current_span("rollout", attributes={"number": number, "share": number / 7, "words": f"Grüße {number}"}):
        for turn in range(number % 4):
            with tracer.start_as_current_span("generate", attributes={"turn": turn, "number": number}) as child:
                child.set_attribute("mlflow.spanOutputs", json.dumps({"token_ids": [52491, 83592, 1000 * turn + number], "n": 0.1 * number}))
    spans = memory.get_finished_spans()
    memory.clear()
    while exporter.export(spans) is not SpanExportResult.SUCCESS:
        time.sleep(0.05)
    acknowledged += [
        {"trace": f"{span.context.trace_id:032x}", "span": f"{span.context.span_id:016x}", "name": span.name, "attributes": dict(span.attributes)}
        for span in spans
    ]
print(json.dumps(acknowledged))
