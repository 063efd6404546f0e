"""
Rollouts of verl, traced by verl: its agent loop with a tool, its tool parser, its LLM client and its `rollout_trace.py`, all
as they are in the wheel. What is scripted is the cluster with the model's answers, the weather, and the chat template; torch, ray
and transformers are not installed, see `use_parts`.

    verl_rollouts.py BACKEND PROJECT TOKENIZER [--token2text] [--step N] [--samples N] [--rollouts N] [--failing]

BACKEND is mlflow, trackio or weave; its address comes from the environment, as for a trainer. The last line of the output is
JSON: the texts of prompt and response of every traced call, by Python's `tokenizers`.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

sys.path.append(str(Path(__file__).parents[3] / "integration/support"))

from parts import use_parts
from tokenizers import Tokenizer

# verl as it is, without what trains: its packages' `__init__.py` import everything.
use_parts(
    packages={
        **dict.fromkeys(("verl", "verl.workers", "verl.workers.rollout", "verl.experimental", "verl.experimental.agent_loop"), {}),
        "verl.utils": {"normalize_token_ids": list},
    },
    absent=(
        *("hydra", "omegaconf", "ray", "tensordict", "torch", "transformers"),
        *("verl.protocol", "verl.single_controller", "verl.trainer", "verl.workers.config", "verl.workers.rollout.router"),
        *("verl.workers.rollout.utils", "verl.utils.config", "verl.utils.dataset", "verl.utils.device", "verl.utils.import_utils"),
        *("verl.utils.model", "verl.utils.profiler", "verl.utils.skip", "verl.utils.tokenizer", "verl.utils.tracking"),
    ),
)

from verl.experimental.agent_loop import agent_loop, tool_agent_loop
from verl.tools.base_tool import BaseTool
from verl.tools.schemas import OpenAIFunctionToolSchema, ToolResponse
from verl.utils.rollout_trace import RolloutTraceConfig, rollout_trace_attr, rollout_trace_op
from verl.workers.rollout.llm_server import LLMServerClient
from verl.workers.rollout.replica import TokenOutput

EXPERIMENT = "qwen3-weather"
SYSTEM = "You are a helpful assistant. Ask the tool get_weather when you need to."
WEATHER = {"京都": "晴れ、21 °C", "München": "Föhn, 18 °C, sonnig", "Reykjavík": "🌧️ 4 °C, vindur 12 m/s"}


def call(city):
    return f"<think>\nI have to look.\n</think>\n\n<tool_call>\n{json.dumps({'name': 'get_weather', 'arguments': {'city': city}}, ensure_ascii=False)}\n</tool_call>"


# What is asked, and what the model says, turn by turn.
SAMPLES = [
    ("京都の天気は？", [call("京都"), "京都は晴れで、気温は21度です。☀️"]),
    ("Wie ist das Wetter in München?", [call("München"), "In München ist Föhn bei 18 °C — Zeit für den Biergarten 🍺."]),
    ("Is it warmer in München or in Reykjavík?", [call("München"), call("Reykjavík"), "München, by 14 degrees: 18 °C against 4 °C."]),
    ("Say hello in three scripts.", ["Hello, Привет, 你好 👋🏽"]),
]


class Weather(BaseTool):
    @rollout_trace_op
    async def execute(self, instance_id, parameters, **kwargs):
        return ToolResponse(text=WEATHER[parameters["city"]]), 0.1, {}


def weather_tool():
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    function = {"name": "get_weather", "description": "The weather in a city.", "parameters": city}
    with contextlib.redirect_stdout(sys.stderr):  # it prints its schema
        return Weather({}, OpenAIFunctionToolSchema.model_validate({"type": "function", "function": function}))


@dataclass
class Merged:
    token_ids: list
    added: list = field(default_factory=list)
    is_model: bool = False


class Template:
    """Qwen's chat template, as far as these rollouts need it; in place of verl's builder of tokens, which asks transformers."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def build_initial_tokens(self, messages, **kwargs):
        turns = "".join(f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages)
        return self.ids(f"{turns}<|im_start|>assistant\n")

    def merge_assistant_tokens(self, tokens, answer):
        return Merged(tokens + answer, answer, is_model=True)

    def merge_context_tokens(self, before, after, tokens, **kwargs):
        answers = "".join(f"<tool_response>\n{message['content']}\n</tool_response>" for message in after[len(before) :])
        added = self.ids(f"\n<|im_start|>user\n{answers}<|im_end|>\n<|im_start|>assistant\n")
        return Merged(tokens + added, added)

    def align_response_metadata(self, merged, mask, logprobs, assistant_logprobs=None):
        mask = mask + [int(merged.is_model)] * len(merged.added)
        return mask, (logprobs or []) + (assistant_logprobs or [0.0] * len(merged.added))


class Remote:
    """A method of a Ray actor."""

    def __init__(self, function):
        self.remote = function


class Model:
    """What stands for a cluster of vLLM servers: a load balancer and the server that it gives, which has its answers already."""

    def __init__(self, template, answers):
        self.template = template
        self.answers = iter(answers)
        self.require_acquire_fields = self.require_release_fields = Remote(self.no_fields)
        self.acquire_server = Remote(self.acquire)
        self.release_server = Remote(lambda **given: None)
        self.generate = Remote(self.answer)

    async def no_fields(self):
        return []

    async def acquire(self, **given):
        return "server-0", self

    async def answer(self, **given):
        answer = next(self.answers, None)
        if answer is None:
            raise RuntimeError("the server is out of memory")
        ids = self.template.ids(f"{answer}<|im_end|>")
        return TokenOutput(token_ids=ids, log_probs=[-0.25 * (i % 5) for i in range(len(ids))], stop_reason="completed", num_preempted=0)


def trainer_config():
    turns = SimpleNamespace(
        max_user_turns=None, max_assistant_turns=6, max_parallel_calls=1, max_tool_response_length=512, format="hermes", tool_response_truncate_side="middle"
    )
    rollout = SimpleNamespace(multi_turn=turns, prompt_length=4096, response_length=4096, full_determinism=False, name="vllm")
    return SimpleNamespace(actor_rollout_ref=SimpleNamespace(rollout=rollout))


class Rollouts:
    def __init__(self, tokenizer):
        # Python's `tokenizers` leaves special tokens out unless told otherwise; transformers, which verl uses, keeps them.
        self.tokenizer = SimpleNamespace(decode=lambda ids: tokenizer.decode(ids, skip_special_tokens=False))
        self.template = Template(tokenizer)
        agent_loop.create_continuous_token_builder = lambda *args, **kwargs: self.template
        tool_agent_loop.simple_timer = lambda name, timings: contextlib.nullcontext()
        self.config = trainer_config()
        self.calls = []

    async def sample(self, index, rollout, step, question, answers):
        """As AgentLoopWorker._run_agent_loop."""
        client = LLMServerClient(self.config, Model(self.template, answers))
        client.tokenizer = self.tokenizer
        with rollout_trace_attr(step=step, sample_index=index, rollout_n=rollout, validate=False, name="agent_loop"):
            loop = tool_agent_loop.ToolAgentLoop(
                trainer_config=SimpleNamespace(config=self.config),
                server_manager=self.recording(client),
                tokenizer=self.tokenizer,
                processor=None,
                dataset_cls=None,
                data_config=SimpleNamespace(config={}),
                tools=SimpleNamespace(tools=[weather_tool()]),
            )
            messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
            output = await loop.run({"temperature": 0.7, "top_p": 0.95, "logprobs": True}, raw_prompt=messages, index=index)
            self.record(loop.run, output.prompt_ids, output.response_ids)

    def recording(self, client):
        async def generate(**given):
            try:
                output = await client.generate(**given)
            except RuntimeError:
                self.record(client.generate, given["prompt_ids"])
                raise
            self.record(client.generate, given["prompt_ids"], output.token_ids)
            return output

        return SimpleNamespace(generate=generate)

    def record(self, function, *lists):
        self.calls.append({"op": function.__qualname__, "texts": [self.tokenizer.decode(ids) for ids in lists]})


def flush(backend):
    client = RolloutTraceConfig.get_client()
    if backend == "mlflow":
        client.flush_trace_async_logging()
    else:
        client.finish()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("backend", choices=["mlflow", "trackio", "weave"])
    parser.add_argument("project")
    parser.add_argument("tokenizer")
    parser.add_argument("--token2text", action="store_true", help="verl decodes by itself")
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--samples", type=int, default=len(SAMPLES))
    parser.add_argument("--rollouts", type=int, default=1, help="of each sample")
    parser.add_argument("--failing", action="store_true", help="one more, whose model fails in its second turn")
    given = parser.parse_args()
    RolloutTraceConfig.init(given.project, EXPERIMENT, given.backend, token2text=given.token2text)
    rollouts = Rollouts(Tokenizer.from_file(given.tokenizer))
    samples = SAMPLES[: given.samples] + ([("And in Reykjavík?", [call("Reykjavík")])] if given.failing else [])
    failures = []
    for index, (question, answers) in enumerate(samples):
        for rollout in range(given.rollouts):
            try:
                await rollouts.sample(index, rollout, given.step, question, answers)
            except RuntimeError as error:
                failures.append(f"{type(error).__name__}: {error}")
    with contextlib.redirect_stdout(sys.stderr):
        flush(given.backend)
    print(json.dumps({"calls": rollouts.calls, "failures": failures}))


logging.basicConfig(level=logging.WARNING)
asyncio.run(main())
