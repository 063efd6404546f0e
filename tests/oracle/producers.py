"""Writes a small body of every producer, in its own shape, with the text that its ids decode to, into ../fixtures/producers/.

    .cache/venv-oracle/bin/python tests/oracle/producers.py            write
    ... producers.py --check                                           compare with what is committed

The ids are Qwen 3's. README.md in this folder says what the files hold.
"""

import base64
import json
import struct
import sys

import tokenizers

from oracle import CACHE, HERE

VERSION = "0.23.3"
FOLDER = HERE.parent / "fixtures" / "producers"
KEY = "qwen3"
MODEL = "Qwen/Qwen3-8B"

TOKENIZER = tokenizers.Tokenizer.from_file(str(CACHE / KEY / "tokenizer.json"))
PAD = 151643


def ids(text):
    return TOKENIZER.encode(text, add_special_tokens=False).ids


def text_of(value):
    """The text of a list of ids; of a list of lists, a list of texts."""
    if value and isinstance(value[0], list):
        return [text_of(row) for row in value]
    return TOKENIZER.decode(value, skip_special_tokens=False)


PROMPT = ids("<|im_start|>user\n京都 ☔ 25 °C?<|im_end|>\n<|im_start|>assistant\n")
CALL = ids('<think>\n\n</think>\n\n<tool_call>\n{"name": "get_weather"}\n</tool_call><|im_end|>')
TOOL = ids("\n<|im_start|>tool\n雨 77 °F<|im_end|>\n<|im_start|>assistant\n")
ANSWER = ids("Rain, 77 °F 🧳.<|im_end|>")
OTHER = ids("Bring an umbrella — naïve!<|im_end|>")
SECOND = ids("<|im_start|>user\nمرحبا<|im_end|>\n<|im_start|>assistant\n")
SPAN = CALL + TOOL + ANSWER
WHOLE = PROMPT + SPAN
MASK = [0] * len(PROMPT) + [1] * len(CALL) + [0] * len(TOOL) + [1] * len(ANSWER)
UNTRAINED = PROMPT + TOOL
TRAINED = CALL + ANSWER

CASES = {}


def case(name, producer, layout, body, *fields):
    """`fields`: kind, path of the text, and the ids that it is the text of."""
    assert name not in CASES, name
    CASES[name] = {"producer": producer, "layout": layout, "body": body, "fields": fields}


def logprobs(ids):
    return [round(-0.01 * (id % 97 + 1), 2) for id in ids]


def masked(mask):
    return [lp if on else 0.0 for on, lp in zip(mask, logprobs(WHOLE))]


def triples(ids, first_null=False):
    values = logprobs(ids)
    return [[None if first_null and i == 0 else values[i], id, None] for i, id in enumerate(ids)]


def piece(id):
    return TOKENIZER.decode([id], skip_special_tokens=False)


def openai_logprobs(ids, as_token_id=False):
    token = (lambda id: f"token_id:{id}") if as_token_id else piece
    return {
        "content": [
            {"token": token(id), "logprob": lp, "bytes": list(piece(id).encode()), "top_logprobs": []}
            for id, lp in zip(ids, logprobs(ids))
        ]
    }


def choice(index, **members):
    return {"index": index, "message": {"role": "assistant", "content": "…"}, "finish_reason": "stop", **members}


def completion(**members):
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1767225600, "model": MODEL, **members}


USAGE = {"prompt_tokens": len(PROMPT), "completion_tokens": len(ANSWER), "total_tokens": len(PROMPT) + len(ANSWER)}

# ---- verl

case("verl-run", "verl run span", "verl",
     {"name": "ToolAgentLoop.run", "inputs": {"sampling_params": {"temperature": 1.0}, "kwargs": {"index": 3}},
      "outputs": {"prompt_ids": PROMPT, "response_ids": SPAN, "response_mask": MASK[len(PROMPT):],
                  "response_logprobs": logprobs(SPAN), "reward_score": None, "num_turns": 4}},
     ("prompt", "/outputs/prompt_text", PROMPT), ("response", "/outputs/response_text", SPAN))
case("verl-generate", "verl generate span", "verl",
     {"name": "LLMServerClient.generate", "inputs": {"request_id": "r1", "prompt_ids": PROMPT, "sampling_params": {}},
      "outputs": {"token_ids": CALL, "log_probs": logprobs(CALL), "stop_reason": "completed"}},
     ("prompt", "/outputs/prompt_text", PROMPT), ("response", "/outputs/response_text", CALL))
case("verl-parser", "verl parser span", "verl-beyond",
     {"name": "HermesToolParser.extract_tool_calls", "inputs": {"responses_ids": CALL, "tools": []},
      "outputs": ["", [{"name": "get_weather", "arguments": "{}"}]]},
     ("response", "/inputs/response_text", CALL))
case("verl-bare-list", "verl before 2025-08-20", "verl-beyond",
     {"name": "AsyncLLMServerManager.generate", "inputs": {"request_id": "r1", "prompt_ids": PROMPT, "sampling_params": {}},
      "outputs": CALL},
     ("prompt", "/inputs/prompt_text", PROMPT), ("response", "/response_text", CALL))

# ---- inference servers

case("vllm-chat", "vLLM chat", "vllm",
     completion(prompt_token_ids=PROMPT, usage=USAGE, prompt_logprobs=None,
                choices=[choice(0, token_ids=ANSWER, logprobs=openai_logprobs(ANSWER)), choice(1, token_ids=OTHER, logprobs=None)]),
     ("prompt", "/prompt_text", PROMPT), ("response", "/choices/0/response_text", ANSWER),
     ("response", "/choices/1/response_text", OTHER))
case("vllm-chat-token-strings", "vLLM chat, ids as strings", "vllm",
     completion(usage=USAGE, choices=[choice(0, logprobs=openai_logprobs(ANSWER, as_token_id=True))]),
     ("response", "/choices/0/response_text", ANSWER))
case("vllm-litellm", "vLLM chat through LiteLLM", "vllm",
     completion(prompt_token_ids=PROMPT, choices=[choice(0, provider_specific_fields={"token_ids": ANSWER})]),
     ("prompt", "/prompt_text", PROMPT), ("response", "/choices/0/response_text", ANSWER))
case("vllm-completions", "vLLM completions", "vllm",
     {"id": "cmpl-1", "object": "text_completion", "model": MODEL, "usage": USAGE, "choices": [
         {"index": 0, "text": "Rain", "prompt_token_ids": PROMPT, "token_ids": ANSWER,
          "logprobs": {"tokens": [piece(id) for id in ANSWER], "token_logprobs": logprobs(ANSWER), "text_offset": []}},
         {"index": 1, "text": "Bring", "prompt_token_ids": SECOND, "logprobs": {
             "tokens": [f"token_id:{id}" for id in OTHER], "token_logprobs": logprobs(OTHER), "text_offset": []}}]},
     ("prompt", "/choices/0/prompt_text", PROMPT), ("response", "/choices/0/response_text", ANSWER),
     ("prompt", "/choices/1/prompt_text", SECOND), ("response", "/choices/1/response_text", OTHER))
case("vllm-generate", "vLLM token endpoint", "vllm",
     {"request": {"token_ids": PROMPT, "sampling_params": {"max_tokens": 64}, "model": MODEL},
      "response": {"request_id": "x1", "choices": [{"index": 0, "token_ids": ANSWER, "finish_reason": "stop",
                                                    "logprobs": openai_logprobs(ANSWER)}]}},
     ("prompt", "/request/prompt_text", PROMPT), ("response", "/response/choices/0/response_text", ANSWER))
case("vllm-generate-request", "vLLM token endpoint, its request alone", "vllm",
     {"token_ids": PROMPT, "sampling_params": {"max_tokens": 64}, "model": MODEL},
     ("prompt", "/prompt_text", PROMPT))
case("vllm-responses", "vLLM Responses", "vllm",
     {"id": "resp_1", "object": "response", "model": MODEL, "output": [],
      "input_messages": [{"type": "raw_message_tokens", "tokens": PROMPT}],
      "output_messages": [{"type": "raw_message_tokens", "tokens": ANSWER}]},
     ("prompt", "/input_messages/0/prompt_text", PROMPT), ("response", "/output_messages/0/response_text", ANSWER))
case("sglang-generate", "SGLang native", "sglang",
     {"request": {"input_ids": PROMPT, "sampling_params": {"temperature": 0}, "return_logprob": True},
      "response": {"text": "Rain", "output_ids": ANSWER, "meta_info": {
          "prompt_tokens": len(PROMPT), "input_token_logprobs": triples(PROMPT, True),
          "output_token_logprobs": triples(ANSWER)}}},
     ("prompt", "/request/prompt_text", PROMPT), ("response", "/response/response_text", ANSWER))
case("sglang-batch", "SGLang native, a batch", "sglang",
     {"request": {"input_ids": [PROMPT, SECOND], "sampling_params": {}},
      "response": [{"text": "Rain", "output_ids": ANSWER, "meta_info": {"id": "a"}},
                   {"text": "Bring", "meta_info": {"id": "b", "output_token_logprobs": triples(OTHER)}}]},
     ("prompt", "/request/prompt_text", [PROMPT, SECOND]), ("response", "/response/0/response_text", ANSWER),
     ("response", "/response/1/response_text", OTHER))
case("sglang-triples", "SGLang native, triples alone", "sglang",
     {"text": "Rain", "meta_info": {"prompt_tokens": len(PROMPT), "input_token_logprobs": triples(PROMPT, True),
                                    "output_token_logprobs": triples(ANSWER)}},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", ANSWER))
case("sglang-request", "SGLang native, its request alone", "sglang",
     {"input_ids": PROMPT, "sampling_params": {"temperature": 0}}, ("prompt", "/prompt_text", PROMPT))
case("sglang-openai", "SGLang OpenAI routes", "sglang",
     {"id": "s1", "object": "text_completion", "model": MODEL, "usage": USAGE, "choices": [
         {"index": 0, "text": "Rain", "matched_stop": 151645, "prompt_token_ids": PROMPT, "token_ids": ANSWER,
          "meta_info": {"output_token_logprobs": triples(ANSWER), "output_token_logprobs_idx": ANSWER}},
         {"index": 1, "text": "Bring", "matched_stop": 151645, "prompt_token_ids": PROMPT,
          "meta_info": {"output_token_logprobs": [{"token_id": id, "logprob": lp} for id, lp in zip(OTHER, logprobs(OTHER))]}}]},
     ("prompt", "/choices/0/prompt_text", PROMPT), ("response", "/choices/0/response_text", ANSWER),
     ("prompt", "/choices/1/prompt_text", PROMPT), ("response", "/choices/1/response_text", OTHER))
case("tensorrt-llm", "TensorRT-LLM", "tensorrt-llm",
     {"id": "cmpl-t", "object": "text_completion", "model": MODEL, "prompt_token_ids": [PROMPT, SECOND], "choices": [
         {"index": 0, "text": "Rain", "token_ids": ANSWER, "logprobs": {"tokens": ["Rain", ","]}},
         {"index": 1, "text": "Bring", "token_ids": OTHER, "logprobs": None}]},
     ("prompt", "/prompt_text", [PROMPT, SECOND]), ("response", "/choices/0/response_text", ANSWER),
     ("response", "/choices/1/response_text", OTHER))
case("tensorrt-llm-base64", "TensorRT-LLM, disaggregated", "tensorrt-llm",
     {"id": "cmpl-t", "object": "text_completion", "model": MODEL, "prompt_token_ids": None,
      "prompt_token_ids_b64": base64.b64encode(struct.pack(f"<{len(PROMPT)}i", *PROMPT)).decode(),
      "choices": [{"index": 0, "text": "Rain", "token_ids": ANSWER}]},
     ("prompt", "/prompt_text", PROMPT), ("response", "/choices/0/response_text", ANSWER))


def probabilities(ids):
    return [{"id": id, "token": piece(id), "bytes": list(piece(id).encode()), "logprob": lp,
             "top_logprobs": [{"id": 1, "token": "\"", "bytes": [34], "logprob": -9.0}]}
            for id, lp in zip(ids, logprobs(ids))]


case("llamacpp", "llama.cpp", "llama.cpp",
     {"index": 0, "content": "Rain, 77 °F 🧳.", "tokens": ANSWER, "id_slot": 0, "stop": True, "model": MODEL,
      "tokens_predicted": len(ANSWER), "tokens_evaluated": len(PROMPT), "prompt": "京都 ☔ 25 °C?",
      "completion_probabilities": probabilities(ANSWER)},
     ("response", "/response_text", ANSWER))
case("llamacpp-probabilities", "llama.cpp without return_tokens", "llama.cpp",
     {"index": 0, "content": "Rain", "tokens": [], "id_slot": 0, "tokens_predicted": len(ANSWER),
      "completion_probabilities": probabilities(ANSWER)},
     ("response", "/response_text", ANSWER))
case("llamacpp-tokenize", "llama.cpp /tokenize with pieces", "llama.cpp",
     {"tokens": [{"id": id, "piece": piece(id) if "\ufffd" not in piece(id) else [240, 159]} for id in PROMPT]},
     ("prompt", "/prompt_text", PROMPT))


def tgi_tokens(ids, first_null=False):
    return [{"id": id, "text": piece(id), "logprob": None if first_null and i == 0 else lp, "special": id >= PAD}
            for i, (id, lp) in enumerate(zip(ids, logprobs(ids)))]


case("tgi", "TGI", "tgi",
     {"generated_text": "Rain", "details": {
         "finish_reason": "eos_token", "generated_tokens": len(ANSWER), "seed": None, "prefill": tgi_tokens(PROMPT, True),
         "tokens": tgi_tokens(ANSWER), "best_of_sequences": [
             {"generated_text": "Bring", "finish_reason": "length", "prefill": [], "tokens": tgi_tokens(OTHER)}]}},
     ("prompt", "/details/prompt_text", PROMPT), ("response", "/details/response_text", ANSWER),
     ("response", "/details/best_of_sequences/0/response_text", OTHER))

# ---- trainers and gateways

case("trl-vllm-serve", "TRL vllm-serve", "trl",
     {"prompt_ids": [PROMPT, SECOND], "completion_ids": [ANSWER, OTHER, CALL, OTHER],
      "logprobs": [[[lp] for lp in logprobs(row)] for row in (ANSWER, OTHER, CALL, OTHER)],
      "logprob_token_ids": [[[id] for id in row] for row in (ANSWER, OTHER, CALL, OTHER)]},
     ("prompt", "/prompt_text", [PROMPT, SECOND]), ("response", "/response_text", [ANSWER, OTHER, CALL, OTHER]))
case("trl-async", "TRL async GRPO", "trl",
     {"input_ids": WHOLE, "completion_mask": MASK, "old_log_probs": masked(MASK), "advantage": 0.5},
     ("prompt", "/prompt_text", UNTRAINED), ("response", "/response_text", TRAINED))
case("trl-openenv", "TRL OpenEnv proxy", "trl",
     {"messages": [], "completion_tokens": [f"token_id:{id}" for id in ANSWER], "per_token_logps": logprobs(ANSWER)},
     ("response", "/response_text", ANSWER))


def left(row, width):
    return [PAD] * (width - len(row)) + row


def right(row, width):
    return row + [PAD] * (width - len(row))


def padding(rows, at_left):
    width = max(map(len, rows))
    place = left if at_left else right
    ones = [[1] * len(row) for row in rows]
    mask = [[0] * (width - len(row)) + row if at_left else row + [0] * (width - len(row)) for row in ones]
    return [place(row, width) for row in rows], mask


PROMPTS, PROMPTS_MASK = padding([PROMPT, SECOND], True)
ANSWERS, ANSWERS_MASK = padding([ANSWER, OTHER], False)
case("unsloth", "Unsloth, TRL trainer batch", "unsloth",
     {"prompt_ids": PROMPTS, "prompt_mask": PROMPTS_MASK, "completion_ids": ANSWERS, "completion_mask": ANSWERS_MASK,
      "sampling_per_token_logps": [logprobs(row) for row in ANSWERS], "num_items_in_batch": 2},
     ("prompt", "/prompt_text", [PROMPT, SECOND]), ("response", "/response_text", [ANSWER, OTHER]))
case("openrlhf", "OpenRLHF", "openrlhf",
     {"observation_tokens": WHOLE, "rollout_log_probs": masked(MASK), "reward": 1.0, "action_ranges": [
         [len(PROMPT), len(PROMPT) + len(CALL)], [len(WHOLE) - len(ANSWER), len(WHOLE)]]},
     ("prompt", "/prompt_text", UNTRAINED), ("response", "/response_text", TRAINED))
case("slime", "slime / miles", "slime",
     {"index": 0, "prompt": "京都 ☔ 25 °C?", "tokens": WHOLE, "response_length": len(SPAN), "reward": 1.0,
      "loss_mask": MASK[len(PROMPT):], "rollout_log_probs": logprobs(SPAN), "status": "completed"},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", SPAN))
case("miles-session", "miles session", "miles",
     {"request": {"input_ids": PROMPT, "model": MODEL},
      "response": {"choices": [choice(0, meta_info={"output_token_logprobs": triples(ANSWER)})]}},
     ("prompt", "/request/prompt_text", PROMPT), ("response", "/response/choices/0/response_text", ANSWER))
case("skyrl", "SkyRL", "skyrl",
     {"prompt_token_ids": [PROMPT, SECOND], "response_ids": [SPAN, OTHER], "rewards": [1.0, 0.0],
      "loss_masks": [MASK[len(PROMPT):], [1] * len(OTHER)], "rollout_logprobs": [logprobs(SPAN), logprobs(OTHER)],
      "stop_reasons": ["stop", "length"]},
     ("prompt", "/prompt_text", [PROMPT, SECOND]), ("response", "/response_text", [SPAN, OTHER]))


def gym(prompt, response):
    return {"prompt_token_ids": prompt, "generation_token_ids": response, "generation_log_probs": logprobs(response)}


case("nemo-gym", "NeMo Gym", "nemo-gym",
     {"id": "resp", "object": "response", "output": [
         {"type": "reasoning", "id": "rs_1", "summary": []},
         {"type": "function_call", "call_id": "c0", "name": "get_weather", "arguments": "{}", **gym(PROMPT, CALL)},
         {"type": "function_call_output", "call_id": "c0", "output": "雨 77 °F"},
         {"type": "message", "role": "assistant", "content": [], **gym(PROMPT + CALL + TOOL, ANSWER)}]},
     ("prompt", "/output/1/prompt_text", PROMPT), ("response", "/output/1/response_text", CALL),
     ("prompt", "/output/3/prompt_text", PROMPT + CALL + TOOL), ("response", "/output/3/response_text", ANSWER))
case("nemo-gym-rollout", "NeMo Gym rollout", "nemo-gym",
     {"responses_create_params": {"input": []}, "reward": 1.0, "response": {"object": "response", "output": [
         {"type": "message", "role": "assistant", "content": [], **gym(PROMPT, ANSWER)}]}},
     ("prompt", "/response/output/0/prompt_text", PROMPT), ("response", "/response/output/0/response_text", ANSWER))
case("nemo-gym-chat", "NeMo Gym chat", "nemo-gym",
     completion(choices=[{"index": 0, "message": {"role": "assistant", "content": "…", **gym(PROMPT, ANSWER)}}]),
     ("prompt", "/choices/0/message/prompt_text", PROMPT), ("response", "/choices/0/message/response_text", ANSWER))
case("nemo-gym-capture", "NeMo Gym capture record", "nemo-gym",
     {**gym(PROMPT, ANSWER), "output_items": [], "token_item_index": 0},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", ANSWER))
case("nemo-rl", "NeMo RL", "nemo-rl",
     {"content": [], "token_ids": WHOLE + [PAD] * 6, "token_loss_mask": MASK + [0] * 6, "input_lengths": len(WHOLE),
      "generation_logprobs": masked(MASK) + [0.0] * 6, "rewards": 1.0},
     ("prompt", "/prompt_text", UNTRAINED), ("response", "/response_text", TRAINED))
case("nemo-rl-messages", "NeMo RL messages", "nemo-rl",
     {"message_log": [{"role": "user", "content": "…", "token_ids": PROMPT},
                      {"role": "assistant", "content": "…", "token_ids": CALL, "generation_logprobs": logprobs(CALL)},
                      {"role": "environment", "content": "…", "token_ids": TOOL}]},
     ("prompt", "/message_log/0/token_text", PROMPT), ("response", "/message_log/1/token_text", CALL),
     ("prompt", "/message_log/2/token_text", TOOL))
case("agent-lightning-agentops", "Agent Lightning 0.3, AgentOps", "agent-lightning",
     {"name": "openai.chat.completion", "attributes": {
         "gen_ai.request.model": MODEL, "prompt_token_ids": PROMPT, "response_token_ids": ANSWER,
         "logprobs.content": json.dumps(openai_logprobs(ANSWER)["content"])}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", ANSWER))
case("agent-lightning-litellm", "Agent Lightning 0.3, LiteLLM", "agent-lightning",
     {"name": "raw_gen_ai_request", "attributes": {
         "llm.hosted_vllm.prompt_token_ids": repr(PROMPT), "llm.hosted_vllm.response_token_ids": repr([ANSWER, OTHER]),
         "llm.hosted_vllm.choices": "[{'finish_reason': 'stop', 'logprobs': None, 'ok': True}]"}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", [ANSWER, OTHER]))
case("agent-lightning-litellm-choices", "Agent Lightning 0.3, LiteLLM, the choices alone", "agent-lightning",
     {"name": "raw_gen_ai_request", "attributes": {
         "llm.hosted_vllm.model": MODEL, "llm.hosted_vllm.usage": repr(USAGE), "llm.hosted_vllm.choices": repr(
             [choice(0, logprobs=None, provider_specific_fields={"token_ids": ANSWER, "note": "it's \"…\"\n"})])}},
     ("response", "/attributes/response_text", ANSWER))
case("agent-lightning-litellm-several", "Agent Lightning 0.3, LiteLLM, several choices alone", "agent-lightning",
     {"name": "raw_gen_ai_request", "attributes": {
         "llm.hosted_vllm.prompt_token_ids": repr(PROMPT), "llm.hosted_vllm.choices": repr(
             [choice(0, provider_specific_fields={"token_ids": ANSWER}), choice(1, token_ids=OTHER, is_final=True)])}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", [ANSWER, OTHER]))
WEAVE = "agentlightning.operation.output."
case("agent-lightning-weave", "Agent Lightning 0.3, Weave", "agent-lightning",
     {"name": "openai.chat", "attributes": {
         WEAVE + "prompt_token_ids": PROMPT, WEAVE + "response_token_ids.0": ANSWER, WEAVE + "choices.0.token_ids": ANSWER}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", ANSWER))
case("agent-lightning-weave-choices", "Agent Lightning 0.3, Weave, the choices alone", "agent-lightning",
     {"name": "openai.chat", "attributes": {
         WEAVE + "model": MODEL, WEAVE + "prompt_token_ids": PROMPT, WEAVE + "choices.0.finish_reason": "stop",
         WEAVE + "choices.0.provider_specific_fields.token_ids": ANSWER, WEAVE + "usage.prompt_tokens": len(PROMPT)}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", ANSWER))
case("agent-lightning-weave-several", "Agent Lightning 0.3, Weave, several choices", "agent-lightning",
     {"name": "openai.chat", "attributes": {
         WEAVE + "prompt_token_ids": PROMPT, WEAVE + "response_token_ids.0": ANSWER, WEAVE + "response_token_ids.1": OTHER,
         WEAVE + "choices.0.token_ids": ANSWER, WEAVE + "choices.1.token_ids": OTHER}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", [ANSWER, OTHER]))
case("vllm-flattened", "vLLM chat, flattened attributes", "vllm",
     {"name": "chat", "attributes": {
         "output.model": MODEL, "output.usage.prompt_tokens": len(PROMPT), "output.prompt_token_ids": PROMPT,
         "output.choices.0.token_ids": ANSWER, "output.choices.0.message.content": "…", "output.choices.1.token_ids": OTHER}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", [ANSWER, OTHER]))
case("verl-flattened", "verl run span, flattened attributes", "verl",
     {"name": "ToolAgentLoop.run", "attributes": {
         "outputs.prompt_ids": PROMPT, "outputs.response_ids": SPAN, "outputs.response_mask": MASK[len(PROMPT):],
         "outputs.metrics.num_turns": 4}},
     ("prompt", "/attributes/prompt_text", PROMPT), ("response", "/attributes/response_text", SPAN))
case("agent-lightning-event", "Agent Lightning 1.0", "agent-lightning",
     {"type": "model_request", "rollout_id": "ro-1", "attempt_id": "at-1", "sequence_id": 4,
      "request": {"model": MODEL, "messages": []},
      "response": completion(prompt_token_ids=PROMPT, choices=[choice(0, token_ids=ANSWER, logprobs=openai_logprobs(ANSWER))])},
     ("prompt", "/response/prompt_text", PROMPT), ("response", "/response/choices/0/response_text", ANSWER))
case("agent-lightning-triplet", "Agent Lightning triplets", "agent-lightning",
     {"prompt_token_ids": PROMPT, "response_token_ids": ANSWER, "response_log_probs": logprobs(ANSWER)},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", ANSWER))


def node(role, parent, ids, mask=None):
    sampled = role == "assistant"
    mask = mask or [sampled] * len(ids)
    return {"message": {"role": role, "content": "…"}, "parent": parent, "sampled": sampled, "token_ids": ids, "mask": mask,
            "is_content": [], "logprobs": logprobs([id for id, on in zip(ids, mask) if on])}


case("verifiers", "verifiers v1", "verifiers",
     {"nodes": [node("user", None, PROMPT), node("assistant", 0, CALL, [False, False] + [True] * (len(CALL) - 2)),
                {"message": {"role": "note"}, "parent": 1, "sampled": False, "token_ids": None},
                node("tool", 2, TOOL), node("assistant", 3, ANSWER), node("assistant", 0, OTHER)]},
     ("response", "/branch_text", [PROMPT + CALL + TOOL + ANSWER, PROMPT + OTHER]),
     ("prompt", "/nodes/0/token_text", PROMPT), ("response", "/nodes/1/token_text", CALL),
     ("prompt", "/nodes/3/token_text", TOOL), ("response", "/nodes/4/token_text", ANSWER),
     ("response", "/nodes/5/token_text", OTHER))
case("verifiers-legacy", "verifiers legacy", "verifiers",
     {"trajectory": [{"prompt": [], "completion": [], "tokens": {
         "prompt_ids": PROMPT, "prompt_mask": [0] * len(PROMPT), "completion_ids": ANSWER,
         "completion_mask": [1] * len(ANSWER), "completion_logprobs": logprobs(ANSWER), "is_truncated": False}}]},
     ("prompt", "/trajectory/0/tokens/prompt_text", PROMPT), ("response", "/trajectory/0/tokens/response_text", ANSWER))
case("prime-rl", "prime-rl", "prime-rl",
     {"token_ids": WHOLE, "position_ids": list(range(len(WHOLE))), "loss_mask": [bool(on) for on in MASK],
      "advantages": [0.5] * len(WHOLE), "inference_logprobs": masked(MASK), "trainer_logprobs": masked(MASK)},
     ("prompt", "/prompt_text", UNTRAINED), ("response", "/response_text", TRAINED))
case("rllm", "rLLM", "rllm",
     {"trace_id": "t0", "session_id": "s0", "model": MODEL, "messages": [], "prompt_token_ids": PROMPT,
      "response_message": {"role": "assistant", "content": "…"}, "completion_token_ids": ANSWER,
      "logprobs": logprobs(ANSWER)},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", ANSWER))
case("areal", "AReaL", "areal",
     {"input_ids": [WHOLE], "loss_mask": [MASK], "logprobs": [masked(MASK)], "versions": [[-1] * len(WHOLE)],
      "attention_mask": [[True] * len(WHOLE)]},
     ("prompt", "/prompt_text", [UNTRAINED]), ("response", "/response_text", [TRAINED]))
case("areal-response", "AReaL response object", "areal",
     {"input_tokens": PROMPT, "output_tokens": ANSWER, "output_logprobs": logprobs(ANSWER),
      "output_versions": [0] * len(ANSWER), "stop_reason": "stop"},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", ANSWER))
case("art", "ART", "art",
     {"messages_and_choices": [{"role": "user", "content": "京都 ☔"}, choice(0, prompt_token_ids=PROMPT, token_ids=CALL),
                               choice(0, logprobs=openai_logprobs(ANSWER, as_token_id=True))], "reward": 0.3},
     ("prompt", "/messages_and_choices/1/prompt_text", PROMPT), ("response", "/messages_and_choices/1/response_text", CALL),
     ("response", "/messages_and_choices/2/response_text", ANSWER))
case("art-internal", "ART, tokenised", "art",
     {"token_ids": WHOLE, "assistant_mask": MASK, "logprobs": masked(MASK), "choice_offsets": [len(PROMPT)]},
     ("prompt", "/prompt_text", UNTRAINED), ("response", "/response_text", TRAINED))
IMAGE = {"type": "image", "data": "aGVsbG8=", "expected_tokens": 64}
case("tinker", "Tinker", "tinker",
     {"prompt": {"chunks": [{"type": "encoded_text", "tokens": PROMPT}, IMAGE, {"type": "encoded_text", "tokens": TOOL}]},
      "response": {"sequences": [{"tokens": ANSWER, "logprobs": logprobs(ANSWER), "stop_reason": "stop"}]}},
     ("prompt", "/prompt/chunks/0/prompt_text", PROMPT), ("prompt", "/prompt/chunks/2/prompt_text", TOOL),
     ("response", "/response/sequences/0/response_text", ANSWER))
case("tinker-capture", "Tinker cookbook capture", "tinker",
     {"prompt_tokens": PROMPT, "samples": [{"tokens": ANSWER, "logprobs": logprobs(ANSWER)}, {"tokens": OTHER, "logprobs": None}]},
     ("prompt", "/prompt_text", PROMPT), ("response", "/samples/0/response_text", ANSWER),
     ("response", "/samples/1/response_text", OTHER))
case("ms-swift", "ms-swift", "ms-swift",
     {"prompt_token_ids": PROMPT, "response_token_ids": [CALL, ANSWER], "rollout_logprobs": [logprobs(CALL), logprobs(ANSWER)],
      "response_loss_mask": [[1] * len(CALL), [1] * len(ANSWER)], "choices": [choice(0, token_ids=ANSWER)]},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", [CALL, ANSWER]),
     ("response", "/choices/0/response_text", ANSWER))
case("xtuner", "XTuner", "xtuner",
     {"prompt_ids": PROMPT, "response_ids": SPAN, "response_mask": MASK[len(PROMPT):], "logprobs": logprobs(SPAN),
      "state": "completed"},
     ("prompt", "/prompt_text", PROMPT), ("response", "/response_text", SPAN))
case("xtuner-segment", "XTuner session segment", "xtuner",
     {"text": "…", "token_ids": TOOL + ANSWER, "labels": [-100] * len(TOOL) + ANSWER, "logprobs": logprobs(TOOL + ANSWER)},
     ("prompt", "/prompt_text", TOOL), ("response", "/response_text", ANSWER))
case("openai", "OpenAI", None,
     completion(usage=USAGE, choices=[choice(0, logprobs=openai_logprobs(ANSWER))]))


def document(made):
    fields = [{"kind": kind, "text_path": path, "text": text_of(value)} for kind, path, value in made["fields"]]
    return {"producer": made["producer"], "layout": made["layout"], "tokenizer": KEY, "tokenizers": VERSION,
            "body": made["body"], "fields": fields}


def rendered(made):
    """One member a line: readable, and small."""
    lines = [f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in document(made).items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    if tokenizers.__version__ != VERSION:
        sys.exit(f"tokenizers {VERSION} is needed, this is {tokenizers.__version__}")
    stale = {path.name for path in FOLDER.glob("*.json")} - {f"{name}.json" for name in CASES}
    wrong = sorted(stale)
    FOLDER.mkdir(exist_ok=True)
    for name, made in CASES.items():
        path = FOLDER / f"{name}.json"
        text = rendered(made)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            wrong.append(path.name)
    if wrong:
        sys.exit(f"not as committed: {', '.join(wrong)}")
    print(f"{len(CASES)} bodies")


if __name__ == "__main__":
    main()
