"""
What Trackio's own package says and does: a line with a command and the JSON text of its input comes on the
standard input, a line with its answer goes to the standard output.
"""

import json
import math
import os
import re
import sys
import urllib.request
from contextlib import redirect_stdout


def plain(value):
    """JSON has no infinite numbers."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def stored(_):
    """Everything in the storage, by project."""
    from trackio.sqlite_storage import SQLiteStorage as storage

    def of(project):
        runs = storage.get_run_records(project)
        return {
            "runs": [
                {
                    "id": run["id"],
                    "name": run["name"],
                    "logs": storage.get_logs(project, run["name"], run_id=run["id"]),
                    "traces": storage.get_traces(project, run["name"], run_id=run["id"], sort="request_time_asc"),
                }
                for run in runs
            ],
            "configs": storage.get_all_run_configs(project),
        }

    return {project: of(project) for project in storage.get_projects()}


def names(projects):
    """What the client says of names of projects, and how they are called on disk."""
    from trackio.sqlite_storage import SQLiteStorage as storage
    from trackio.utils import canonical_project_name

    def allowed(project):
        try:
            storage.validate_project_name(project)
            return True
        except ValueError:
            return False

    return [{"project": project, "allowed": allowed(project), "canonical": canonical_project_name(project)} for project in projects]


def repaired(value):
    """What no UTF-8 and no 64 bits hold, replaced."""
    if isinstance(value, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, dict):
        return {repaired(key): repaired(item) for key, item in value.items()}
    if isinstance(value, list):
        return [repaired(item) for item in value]
    return value


def post(body):
    """Sends a body of bulk_log without token2text."""
    request = urllib.request.Request(
        os.environ["SERVER_URL"] + "/api/bulk_log",
        data=json.dumps(repaired(body)).encode(),
        headers={"Content-Type": "application/json", "X-Trackio-Write-Token": os.environ["TRACKIO_WRITE_TOKEN"]},
    )
    return json.load(urllib.request.urlopen(request))


def client(calls):
    """Logs with Trackio's client. verl's way of validation generations is in a call's `generations`."""
    import trackio

    trackio.init(
        project=calls["project"],
        name=calls["run"],
        config=calls["config"],
        server_url=f"{os.environ['SERVER_URL']}?write_token={os.environ['TRACKIO_WRITE_TOKEN']}",
        auto_log_gpu=False,
    )
    for call in calls["logs"]:
        metrics = call.get("metrics") or {"val/generations": [generation(i, sample) for i, sample in enumerate(call["generations"])]}
        trackio.log({key: number(value) for key, value in metrics.items()}, step=call["step"])
    trackio.finish()


def number(value):
    return float(value["float"]) if isinstance(value, dict) and "float" in value else value


def generation(index, sample):
    """As ValidationGenerationsLogger.log_generations_to_trackio of verl."""
    import trackio

    input_text, output_text, score = sample
    return trackio.Trace(
        messages=[{"role": "user", "content": str(input_text)}, {"role": "assistant", "content": str(output_text)}],
        metadata={"source": "validation_generations", "sample_index": index, "score": number(score)},
    )


COMMANDS = {"stored": stored, "names": names, "post": post, "client": client}

if __name__ == "__main__":
    for line in sys.stdin:
        question = json.loads(line)
        with redirect_stdout(sys.stderr):
            answer = COMMANDS[question["command"]](json.loads(question["input"]))
        print(json.dumps(plain(answer)), flush=True)
