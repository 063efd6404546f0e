"""Sends a trace by OpenTelemetry's own SDK and exporters, and prints what became of it as JSON: the result, and what was logged.

    otel_client.py http|grpc ENDPOINT none|gzip OUTPUTS
"""

import json
import logging
import sys

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

kind, endpoint, compression, outputs = sys.argv[1:]
logged = []


class Keeper(logging.Handler):
    def emit(self, record):
        logged.append(record.getMessage())


logging.getLogger().addHandler(Keeper())
if kind == "http":
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=endpoint, compression=Compression(compression), timeout=20)
else:
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=True, timeout=20)

memory = InMemorySpanExporter()
provider = TracerProvider(resource=Resource({"service.name": "python"}))
provider.add_span_processor(SimpleSpanProcessor(memory))
tracer = provider.get_tracer("tests")
with tracer.start_as_current_span("rollout") as root:
    root.set_attribute("mlflow.spanOutputs", outputs)
    with tracer.start_as_current_span("generate") as child:
        # A list of integers of OTLP itself.
        child.set_attribute("response_token_ids", json.loads(outputs)["token_ids"])
result = exporter.export(memory.get_finished_spans())
exporter.shutdown()
print(json.dumps({"result": result.name, "logged": logged, "trace": format(root.get_span_context().trace_id, "032x")}))
