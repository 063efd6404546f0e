"""
Makes the calls of a file under verl's own `rollout_trace.py`, as it is in the wheel; torch and ray are not installed, see `use_parts`.

    rollout_trace.py BACKEND PROJECT CALLS TOKENIZER [--token2text]

BACKEND is mlflow, trackio or weave; its address comes from the environment. CALLS is what tests/fixtures/rollout-trace/README.md says.
The last line of the output is JSON: the versions of what took part.
"""

import asyncio
import contextlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

from tokenizers import Tokenizer

sys.path.append(str(Path(__file__).parents[3] / "integration/support"))

from parts import use_parts

use_parts(packages={"verl": {}, "verl.utils": {}}, absent=("ray", "torch"))

from verl.utils.rollout_trace import RolloutTraceConfig, rollout_trace_attr, rollout_trace_op

EXPERIMENT = "qwen3-calls"
ERRORS = {"RuntimeError": RuntimeError, "ValueError": ValueError}
BACKENDS = {"mlflow": "mlflow-skinny", "trackio": "trackio", "weave": "weave"}


class Program:
    def __init__(self, tokenizer):
        # Python's `tokenizers` leaves special tokens out unless told otherwise; transformers, which verl uses, keeps them.
        self.tokenizer = SimpleNamespace(decode=lambda ids: tokenizer.decode(ids, skip_special_tokens=False))

    async def run(self, step):
        if "attributes" in step:
            with rollout_trace_attr(**step["attributes"]):
                return await self.inside(step)
        # A function with the parameters of the call and the name that verl records.
        scope = {"body": lambda: self.call(step)}
        exec(f"async def function(self, {', '.join(step['inputs'])}):\n    return await body()", scope)
        scope["function"].__qualname__ = step["op"]
        try:
            return await rollout_trace_op(scope["function"])(self, **step["inputs"])
        except tuple(ERRORS.values()):
            if not step.get("caught"):
                raise

    async def call(self, step):
        await self.inside(step)
        if "error" in step:
            raise ERRORS[step["error"]["type"]](step["error"]["message"])
        return step["output"]

    async def inside(self, step):
        steps = step.get("calls", [])
        if step.get("parallel"):
            await asyncio.gather(*(self.later(i, inner) for i, inner in enumerate(steps)))
        else:
            for inner in steps:
                await self.run(inner)

    async def later(self, i, step):
        # Ends in another order than it began.
        await asyncio.sleep(0.01 * (i % 3))
        try:
            await self.run(step)
        except tuple(ERRORS.values()):
            pass


def flush(backend):
    client = RolloutTraceConfig.get_client()
    if backend == "mlflow":
        client.flush_trace_async_logging()
    else:
        client.finish()


backend, project, calls, tokenizer, *options = sys.argv[1:]
RolloutTraceConfig.init(project, EXPERIMENT, backend, token2text="--token2text" in options)
with open(calls) as file:
    program = json.load(file)
asyncio.run(Program(Tokenizer.from_file(tokenizer)).inside({"parallel": True, "calls": program["calls"]}))
with contextlib.redirect_stdout(sys.stderr):
    flush(backend)
print(json.dumps({name: version(name) for name in ("verl", BACKENDS[backend], "tokenizers")}))
