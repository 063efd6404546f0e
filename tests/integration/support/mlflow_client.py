"""What MLflow's own client sees on a server. Reads questions from the standard input, one JSON array a line."""

import json
import sys
import tempfile
import traceback

import mlflow
from mlflow import MlflowClient

NANOS = ("start_time_unix_nano", "end_time_unix_nano", "time_unix_nano")


def exact(value):
    """Times as strings: they are too large for the numbers of JavaScript."""
    if isinstance(value, dict):
        return {key: str(item) if key in NANOS else exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value


def described(trace):
    info = trace.info
    return {
        "id": info.trace_id,
        "experiment": info.experiment_id,
        "state": str(info.state.value),
        "time": info.request_time,
        "duration": info.execution_duration,
        "request": info.request_preview,
        "response": info.response_preview,
        "tags": dict(info.tags),
        "metadata": dict(info.trace_metadata),
        "assessments": [[a.name, a.span_id, a.feedback.value] for a in info.assessments],
        "spans": {span.span_id: exact(span.to_dict()) for span in trace.data.spans},
    }


def trace(trace_id):
    return described(client.get_trace(trace_id))


def traces(experiment, filter_string=None):
    found = client.get_experiment_by_name(experiment)
    return [described(item) for item in client.search_traces(locations=[found.experiment_id], filter_string=filter_string, max_results=500)]


def experiment_id(name):
    return client.get_experiment_by_name(name).experiment_id


def create_experiment(name):
    return client.create_experiment(name)


def artifact(run_id, path):
    with tempfile.TemporaryDirectory() as folder:
        with open(client.download_artifacts(run_id, path, folder)) as file:
            return json.load(file)


def create_run(name):
    return client.create_run(experiment_id(name)).info.run_id


def log_trace(experiment, name, inputs, outputs, attributes, event=None):
    """A trace with a root and one child, as the client's own tracing writes it."""
    mlflow.set_experiment(experiment)
    with mlflow.start_span(name) as root:
        with mlflow.start_span("child", attributes=attributes) as child:
            child.set_inputs(json.loads(inputs))
            child.set_outputs(json.loads(outputs))
            if event:
                child.add_event(mlflow.entities.SpanEvent(name="event", attributes=event))
    mlflow.flush_trace_async_logging()
    return root.trace_id


mlflow.set_tracking_uri(sys.argv[1])
client = MlflowClient(sys.argv[1])
FUNCTIONS = {function.__name__: function for function in (trace, traces, experiment_id, create_experiment, artifact, create_run, log_trace)}
for line in sys.stdin:
    question, args = json.loads(line)
    try:
        answer = {"result": FUNCTIONS[question](*args)}
    except Exception:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
