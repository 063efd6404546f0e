"""
What programs do that log with the clients of the backends themselves, and what these clients see of what is stored.

    clients.py FUNCTION ARGUMENTS

ARGUMENTS is a JSON list. Addresses come from the environment. The last line of the output is the result as JSON.
"""

import contextlib
import json
import sys

PROMPT = {"request_id": "r1", "messages": [{"role": "user", "content": "Grüße – 挨拶"}]}


def create_mlflow(*projects):
    """The ids of the experiments."""
    import mlflow

    return [mlflow.set_experiment(project).experiment_id for project in projects]


def log_mlflow(project, prompt_ids, token_ids):
    """Manual spans and decorated functions, as integrations make them."""
    import mlflow

    mlflow.set_experiment(project)

    @mlflow.trace(span_type="TOOL")
    def look_up(word):
        return {"found": [word, 1.5, float("nan"), None]}

    with mlflow.start_span("chat", span_type="CHAT_MODEL") as root:
        root.set_inputs({**PROMPT, "prompt_ids": prompt_ids})
        look_up("grüße")
        with mlflow.start_span("generate", attributes={"model": "Qwen/Qwen3-8B"}) as child:
            child.set_inputs({"prompt_ids": prompt_ids})
            child.set_outputs({"token_ids": token_ids, "log_probs": [-0.5] * len(token_ids)})
        root.set_outputs({"response_ids": token_ids, "choices": [{"index": 0}]})
        mlflow.update_current_trace(tags={"kind": "direct"})
    mlflow.flush_trace_async_logging()
    return root.trace_id


def read_mlflow(*projects):
    """The traces of each project, the oldest first."""
    import mlflow

    client = mlflow.MlflowClient()
    ids = [client.get_experiment_by_name(project).experiment_id for project in projects]
    return [[described(trace) for trace in client.search_traces(locations=[id], order_by=["timestamp_ms ASC"], max_results=100)] for id in ids]


def get_mlflow(trace_id):
    import mlflow

    return described(mlflow.MlflowClient().get_trace(trace_id))


def described(trace):
    info = trace.info
    return {
        "info": {
            "id": info.trace_id,
            "experiment": info.experiment_id,
            "state": str(info.state.value),
            "previews": [info.request_preview, info.response_preview],
            "tags": dict(info.tags),
            "metadata": dict(info.trace_metadata),
        },
        "spans": [span.to_dict() for span in trace.data.spans],
    }


def log_trackio(project, prompt_ids, token_ids):
    import trackio

    trackio.init(project=project, name="direct", auto_log_gpu=False)
    messages = [{"role": "user", "content": "Grüße"}, {"role": "assistant", "content": ""}]
    metadata = {"inputs": {"prompt_ids": prompt_ids}, "output": {"token_ids": token_ids}}
    trackio.log({"generate": trackio.Trace(messages=messages, metadata=metadata), "loss": 0.5}, step=3)
    trackio.log({"loss": 0.25}, step=4)
    trackio.finish()


def log_weave(project, prompt_ids, token_ids):
    import weave

    client = weave.init(project)

    @weave.op
    def generate(prompt_ids, temperature=0.7):
        return {"token_ids": token_ids, "stop_reason": "completed"}

    @weave.op
    def rollout(question):
        return {"prompt_ids": prompt_ids, "response_ids": generate(prompt_ids)["token_ids"]}

    rollout("Grüße")
    client.finish()


def read_weave(*projects):
    """The calls of each project, the oldest first."""
    import weave

    return [[seen(call) for call in weave.init(project).get_calls()] for project in projects]


def seen(call):
    inputs, attributes = dict(call.inputs), dict(call.attributes)
    return {"op": call.func_name, "is_root": call.parent_id is None, "inputs": inputs, "output": call.output, "attributes": attributes, "exception": call.exception}


def log_otlp(prompt_ids, token_ids, headers):
    """The SDK and its exporter, whose address is OTEL_EXPORTER_OTLP_ENDPOINT."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource({"service.name": "rollouts"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(headers=headers)))
    tracer = provider.get_tracer("trainer", "1.0")
    with tracer.start_as_current_span("rollout") as root:
        with tracer.start_as_current_span("generate") as span:
            span.set_attribute("prompt_ids", prompt_ids)
            span.set_attribute("token_ids", token_ids)
            span.set_attribute("gen_ai.request.model", "Qwen/Qwen3-8B")
            span.add_event("first token", {"ttft": 0.25})
    trace_id = root.get_span_context().trace_id
    flushed = provider.force_flush(20_000)
    provider.shutdown()
    return {"flushed": flushed, "traceId": f"{trace_id:032x}"}


def plain(value):
    """What no JSON holds: models, and what Weave's client makes of the objects that it reads."""
    if hasattr(value, "unwrap"):
        return value.unwrap()
    if hasattr(value, "items"):
        return dict(value.items())
    return list(value) if hasattr(value, "__iter__") else str(value)


if __name__ == "__main__":
    function, arguments = sys.argv[1:]
    with contextlib.redirect_stdout(sys.stderr):
        result = globals()[function](*json.loads(arguments))
    print(json.dumps(result, default=plain))
