"""What W&B's own client reads of a project. Reads questions from the standard input, one JSON array a line; the server is in the environment."""

import contextlib
import functools
import json
import sys

# What the client says is not an answer.
with contextlib.redirect_stdout(sys.stderr):
    import weave


@functools.cache
def client(project):
    return weave.init(project)


def plain(value):
    """What the client makes of objects and lists that it reads."""
    if hasattr(value, "unwrap"):
        return value.unwrap()
    if hasattr(value, "items"):
        return dict(value.items())
    return list(value) if hasattr(value, "__iter__") else str(value)


def seen(call):
    times = {"started_at": call.started_at.isoformat(), "ended_at": call.ended_at.isoformat()}
    names = {"id": call.id, "trace_id": call.trace_id, "parent_id": call.parent_id, "op": call.func_name, "display_name": call.display_name}
    values = {"inputs": call.inputs, "output": call.output, "attributes": call.attributes, "summary": call.summary, "exception": call.exception}
    return {**names, **times, **values, "children": [child.id for child in call.children()]}


def calls(project):
    """The calls of a project, the oldest first."""
    return [seen(call) for call in client(project).get_calls()]


def stored_bytes(calls):
    """How much of each call the service counts against its limit of a row: its code stores four columns as `json.dumps` has them."""
    return [sum(len(json.dumps(call[column])) for column in ("inputs", "output", "attributes", "summary")) for call in calls]


FUNCTIONS = {function.__name__: function for function in (calls, stored_bytes)}
for line in sys.stdin:
    question, args = json.loads(line)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            answer = {"result": FUNCTIONS[question](*args)}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer, default=plain), flush=True)
