"""Renders conversations with real chat templates and writes their ids, and the messages that must come back, into chat.jsonl.

    scripts/venv.sh transformers5
    .cache/venv-transformers5/bin/python tests/oracle/chat.py            writes it
    .cache/venv-transformers5/bin/python tests/oracle/chat.py --check    compares with what is committed

Each template is also written down here as a rule: what stands before the text of each message, the text, and what stands behind
it. That the rule is the template's is asserted: its parts together are what `apply_chat_template` renders. So the rule says
which messages a reader of the rendered text must find, also where the template itself strips, merges or leaves out, and where
they are. Templates that no package ships are written by their rule alone (`"checked": false`).

README.md in this folder says what the file holds.
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import transformers  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from transformers.utils.chat_template_utils import _compile_jinja_template  # noqa: E402

from oracle import CACHE, HERE, Lcg, line  # noqa: E402

PATH = HERE / "chat.jsonl"
CONVERSATIONS = 40

TEXTS = [
    "Hello", "hi", "What is 17 * 23?", "漢字かな 🎉👩‍👩‍👧 é", " leading space", "trailing space ", "\nnew line first", "new line last\n",
    "\n\n two \n\n", "def f(x):\n    return x + 1\n\n\nprint(f(2))  # 3", "```json\n{\"a\": [1, 2]}\n```", "a\tb\r\nc", "{\"name\": \"x\"}",
    "if a < b and c > d: <b>bold</b>", "<user> [INST ] <|fake|> <tool_call > </think >", "user\nassistant\nsystem", "<|im_star", "İıß\u00a0\u200b",
    "Answer: \\boxed{391}", "x" * 50, "...", "1.\n2.\n3.", "«quoted» — dash", "\u0301combining", "tool", "functions.f", "0", "null", "###", "end.",
]  # fmt: skip
# Markup where it means nothing: in the texts of users.
USER_TEXTS = ["what does <think> mean?", "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>", "</think>", "<tool_response>"]
# Calls that are none, in the texts of the assistant.
ILL_FORMED = ["<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "<tool_call>\n{\"name\": \"f\", \"arguments\": {\n</tool_call>", "a <tool_call> b"]
THOUGHTS = ["Let me think.", "Two\n\nparts", "漢字 🎉", "<b>", "is it 3?\nNo: 4."]
NAMES = ["search", "get_weather", "f", "a_long_name_2"]
ARGUMENTS = [{}, {"query": "rust"}, {"city": "Zürich", "days": 3, "unit": None}, {"code": "print(\"hi\")\n\n# <b>", "opts": {"a": [1, 2.5, True]}},
             {"text": "a </tool_call> b"}, {"q": "漢字 \\ \" '"}]  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "search", "description": "Searches <all>.", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}}]  # fmt: skip


def tojson(value):
    return json.dumps(value, ensure_ascii=False)


class Random(Lcg):
    def of(self, choices):
        return choices[self.below(len(choices))]

    def one_in(self, n):
        return self.below(n) == 0


def conversation(random, *, system=True, calls=0, thoughts=False, most_calls=2, alternates=True, ill_formed=True, empty=True, tool="tool"):
    """A conversation. `calls`: of how many turns one calls tools; `tool`: the role of results."""
    texts = TEXTS + ([""] if empty else [])
    out = []
    if system and not random.one_in(3):
        out.append({"role": "system", "content": random.of(TEXTS)})
    for _ in range(1 + random.below(3)):
        out.append({"role": "user", "content": random.of(texts + USER_TEXTS)})
        if calls and random.one_in(calls):
            count = 1 + random.below(most_calls)
            functions = [{"name": random.of(NAMES), "arguments": random.of(ARGUMENTS)} for _ in range(count)]
            content = random.of(["", "I will look.", "Two\nlines\n"])
            out.append({"role": "assistant", "content": content, "tool_calls": [{"type": "function", "function": function} for function in functions]})
            if thoughts and not random.one_in(3):
                out[-1]["reasoning_content"] = random.of(THOUGHTS)
            out += [{"role": tool, "content": random.of(texts)} for _ in range(count)]
        if not alternates and random.one_in(6):
            continue
        out.append({"role": "assistant", "content": random.of(texts + (ILL_FORMED if ill_formed else []))})
        if thoughts and not random.one_in(3):
            out[-1]["reasoning_content"] = random.of(THOUGHTS)
    return out


def said(role, content="", *, reasoning=None, calls=(), closed=True):
    return {"role": role, "content": content, "reasoning": reasoning or None, "calls": [list(call) for call in calls], "closed": closed}


def part(before, text, behind, message):
    """A message: what stands before its text, its text, what stands behind, and what must be read."""
    return (before, text, behind, message)


def plain(before, text, behind, role, **more):
    return part(before, text, behind, said(role, text, **more))


def called(message):
    return [(call["function"]["name"], tojson(call["function"]["arguments"])) for call in message.get("tool_calls", [])]


# ---- the rules


def chatml_results(messages, at, parts):
    """A run of results of calls, which is one turn of the user; the first message behind it."""
    end = at
    while end < len(messages) and messages[end]["role"] == "tool":
        end += 1
    for i in range(at, end):
        before = ("<|im_start|>user\n" if i == at else "") + "<tool_response>\n"
        behind = "\n</tool_response>" + ("<|im_end|>\n" if i + 1 == end else "\n")
        parts.append(plain(before, messages[i]["content"], behind, "tool"))
    return end


def chatml_system(messages, tools, default):
    given = messages[0]["content"] if messages[0]["role"] == "system" else default
    if not tools:
        return given
    start = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with function signatures within <tools></tools> XML tags:\n<tools>"
    end = "\n</tools>\n\nFor each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>"
    return (given + "\n\n" if given is not None else "") + start + "".join("\n" + tojson(tool) for tool in tools) + end


def chatml_call(name, arguments):
    return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>"


def qwen2_5(messages, tools=None, prompt=False):
    default = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
    parts = [plain("<|im_start|>system\n", chatml_system(messages, tools, default), "<|im_end|>\n", "system")]
    at = 1 if messages[0]["role"] == "system" else 0
    while at < len(messages):
        message = messages[at]
        if message["role"] == "tool":
            at = chatml_results(messages, at, parts)
            continue
        content, calls = message["content"], called(message)
        pieces = ([content] if content or not calls else []) + [chatml_call(*call) for call in calls]
        text, head = "\n".join(pieces), f"<|im_start|>{message['role']}\n"
        parts.append(part(head, text, "<|im_end|>\n", said(message["role"], content, calls=calls)))
        at += 1
    return parts + ([plain("<|im_start|>assistant\n", "", "", "assistant", closed=False)] if prompt else [])


def qwen3(messages, tools=None, prompt=False, enable_thinking=True):
    system = chatml_system(messages, tools, None)
    parts = [plain("<|im_start|>system\n", system, "<|im_end|>\n", "system")] if system is not None else []
    queries = [i for i, message in enumerate(messages) if message["role"] == "user"]
    at = 1 if messages[0]["role"] == "system" else 0
    while at < len(messages):
        message = messages[at]
        if message["role"] == "tool":
            at = chatml_results(messages, at, parts)
            continue
        content, calls, thought = message["content"], called(message), message.get("reasoning_content", "")
        think = ""
        if message["role"] == "assistant" and at > queries[-1] and (at + 1 == len(messages) or thought):
            think, content = f"<think>\n{thought}\n</think>\n\n", content.lstrip("\n")
        else:
            thought = ""
        # The text that stands before calls decides on the line feed, as it was given.
        text = think + content + "".join(("\n" if message["content"] or i else "") + chatml_call(*call) for i, call in enumerate(calls))
        parts.append(part(f"<|im_start|>{message['role']}\n", text, "<|im_end|>\n", said(message["role"], content, reasoning=thought, calls=calls)))
        at += 1
    if prompt:
        think = "" if enable_thinking else "<think>\n\n</think>\n\n"
        parts.append(part("<|im_start|>assistant\n", think, "", said("assistant", closed=False)))
    return parts


def gemma3(messages, prompt=False):
    first = messages[0]["content"] + "\n\n" if messages[0]["role"] == "system" else ""
    parts = []
    for i, message in enumerate(messages[1:] if messages[0]["role"] == "system" else messages):
        role = "model" if message["role"] == "assistant" else message["role"]
        text = (first if i == 0 else "") + message["content"].strip()
        parts.append(plain(("<bos>" if i == 0 else "") + f"<start_of_turn>{role}\n", text, "<end_of_turn>\n", message["role"]))
    return parts + ([plain("<start_of_turn>model\n", "", "", "assistant", closed=False)] if prompt else [])


def llama3_1(messages, prompt=False):
    begin = "<|begin_of_text|>"
    parts = []
    for i, message in enumerate(messages):
        head = f"<|start_header_id|>{message['role']}<|end_header_id|>\n\n"
        role = "tool" if message["role"] == "ipython" else message["role"]
        parts.append(plain(("" if i else begin) + head, message["content"].strip(), "<|eot_id|>", role))
    return parts + ([plain("<|start_header_id|>assistant<|end_header_id|>\n\n", "", "", "assistant", closed=False)] if prompt else [])


def deepseek_v3(messages, prompt=False):
    system = messages[0]["content"] if messages[0]["role"] == "system" else ""
    begin = "<｜begin▁of▁sentence｜>"
    parts = []
    if system:
        parts.append(plain(begin, system, "", "system"))
        begin = ""
    end = "<｜end▁of▁sentence｜>"
    for i, message in enumerate(messages):
        content, following = message["content"], messages[i + 1]["role"] if i + 1 < len(messages) else None
        after_tool = i > 0 and messages[i - 1]["role"] == "tool"
        if message["role"] == "system":
            continue
        if message["role"] == "user":
            parts.append(plain(begin + "<｜User｜>", content, "", "user", closed=following is not None or prompt))
            begin = ""
        elif message["role"] == "tool":
            last = following != "tool"
            parts.append(plain("<｜tool▁output▁begin｜>", content, "<｜tool▁output▁end｜>" + ("<｜tool▁outputs▁end｜>" if last else "\n"), "tool"))
        elif content is None:
            calls = called(message)
            texts = [f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{arguments}\n```<｜tool▁call▁end｜>" for name, arguments in calls]
            # The template ends a list of two, and only that.
            close = "<｜tool▁calls▁end｜>" if len(calls) == 2 else ""
            behind = (end if len(calls) == 2 else "") + "<｜tool▁outputs▁begin｜>"
            parts.append(part("<｜Assistant｜>", "<｜tool▁calls▁begin｜>" + "\n".join(texts) + close, behind, said("assistant", calls=calls)))
        else:
            parts.append(plain("" if after_tool else "<｜Assistant｜>", content, end, "assistant"))
    return parts + ([plain("<｜Assistant｜>", "", "", "assistant", closed=False)] if prompt and messages[-1]["role"] != "tool" else [])


def mistral_nemo(messages, tools=None):
    system = messages[0]["content"] if messages[0]["role"] == "system" else None
    rest = messages[1:] if system is not None else messages
    users = [message for message in rest if message["role"] == "user"]
    parts = []
    for i, message in enumerate(rest):
        begin = "" if i else "<s>"
        if message["role"] == "user":
            if tools and message == users[-1]:
                text = "[" + ", ".join(available(tool["function"]) for tool in tools) + "]"
                parts.append(plain(begin + "[AVAILABLE_TOOLS]", text, "[/AVAILABLE_TOOLS]", "system"))
                begin = ""
            text = (system + "\n\n" if system is not None and i + 1 == len(rest) else "") + message["content"]
            parts.append(plain(begin + "[INST]", text, "[/INST]", "user"))
        elif message["role"] == "tool":
            text = "{\"content\": " + message["content"] + ", \"call_id\": \"" + message["tool_call_id"] + "\"}"
            parts.append(plain("[TOOL_RESULTS]", text, "[/TOOL_RESULTS]", "tool"))
        elif "tool_calls" in message:
            texts = [tojson(call["function"])[:-1] + f", \"id\": \"{call['id']}\"}}" for call in message["tool_calls"]]
            parts.append(part("", "[TOOL_CALLS][" + ", ".join(texts) + "]", "</s>", said("assistant", calls=called(message))))
        else:
            parts.append(plain("", message["content"], "</s>", "assistant"))
    return parts


def available(function):
    """A tool as the template of Nemo writes it."""
    members = (f'"{key}": "{value}"' if isinstance(value, str) else f'"{key}": {tojson(value)}' for key, value in function.items())
    return '{"type": "function", "function": {' + ", ".join(members) + "}}"


def chatglm3(messages, prompt=False):
    parts = []
    for i, message in enumerate(messages):
        role = "tool" if message["role"] == "observation" else message["role"]
        closed = i + 1 < len(messages) or prompt
        parts.append(plain(("" if i else "[gMASK]sop") + f"<|{message['role']}|>\n ", message["content"], "", role, closed=closed))
    return parts + ([plain("<|assistant|>", "", "", "assistant", closed=False)] if prompt else [])


def internlm2(messages, prompt=False):
    parts = []
    for i, message in enumerate(messages):
        role = "tool" if message["role"] == "environment" else message["role"]
        parts.append(plain(("" if i else "<s>") + f"<|im_start|>{message['role']}\n", message["content"], "<|im_end|>\n", role))
    return parts + ([plain("<|im_start|>assistant\n", "", "", "assistant", closed=False)] if prompt else [])


def command_r_plus(messages, prompt=False):
    marks = {"system": "SYSTEM", "user": "USER", "assistant": "CHATBOT"}
    parts = []
    for i, message in enumerate(messages):
        content = message["content"] if message["role"] == "system" else message["content"].strip()
        head = f"<|START_OF_TURN_TOKEN|><|{marks[message['role']]}_TOKEN|>"
        parts.append(plain(("" if i else "<BOS_TOKEN>") + head, content, "<|END_OF_TURN_TOKEN|>", message["role"]))
    return parts + ([plain("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "", "", "assistant", closed=False)] if prompt else [])


# ---- the cases of templates that are shipped


def cases(key):
    """Conversation, arguments of the template, parts by its rule: of each conversation for one tokenizer."""
    random = Random(sum(key.encode()))
    for i in range(CONVERSATIONS):
        prompt = random.one_in(3)
        tools = TOOLS if random.one_in(3) else None
        if key in ("qwen2_5", "qwen3"):
            messages = conversation(random, calls=2, thoughts=key == "qwen3", alternates=False)
            given = {"tools": tools, "add_generation_prompt": prompt}
            if key == "qwen2_5":
                yield messages, given, qwen2_5(messages, tools, prompt)
            else:
                # Asked for only where nothing has been said yet, as a server does.
                given["enable_thinking"] = not random.one_in(2)
                yield messages, given, qwen3(messages, tools, prompt, given["enable_thinking"])
        elif key == "deepseek_v3":
            messages = conversation(random)
            if i % 2:
                messages = conversation(random, calls=1)
                first = next(j for j, message in enumerate(messages) if "tool_calls" in message)
                messages = [message for j, message in enumerate(messages) if j <= first or "tool_calls" not in message]
                # The template takes arguments as text, and no text beside calls.
                for call in messages[first]["tool_calls"]:
                    call["function"]["arguments"] = call["function"]["arguments"] or {"a": 1}
                messages[first]["content"] = None
                results = len(messages[first]["tool_calls"])
                messages = messages[: first + 1 + results] + [message for message in messages[first + 1 + results :] if message["role"] != "tool"]
            as_text = json.loads(json.dumps(messages))
            for message in as_text:
                for call in message.get("tool_calls", []):
                    call["function"]["arguments"] = tojson(call["function"]["arguments"])
            yield as_text, {"add_generation_prompt": prompt}, deepseek_v3(messages, prompt)
        elif key == "mistral_nemo":
            messages = conversation(random, calls=2)
            for message in messages:
                if message["role"] == "tool":
                    message["tool_call_id"] = "abcdefghi"
                for j, call in enumerate(message.get("tool_calls", [])):
                    call["id"] = f"call{j:05}"
            if prompt:
                while messages[-1]["role"] != "user":
                    messages.pop()
            yield messages, {"tools": tools}, mistral_nemo(messages, tools)
        else:
            rule = globals()[key]
            roles = {"chatglm3": "observation", "internlm2": "environment", "llama3_1": "ipython"}
            messages = conversation(random, calls=2 if key in roles else 0, tool=roles.get(key, "tool"))
            for message in messages:
                message.pop("tool_calls", None)
            yield messages, {"add_generation_prompt": prompt}, rule(messages, prompt)


# ---- tokenizers


# Tokens that the shipped file lacks, or that another model of the family has in place of reserved ones.
TOKENS = {
    "chatglm3": [("[gMASK]", 64790), ("sop", 64792), ("<|system|>", 64794), ("<|user|>", 64795), ("<|assistant|>", 64796), ("<|observation|>", 64797)],
    "internlm2": [("<|plugin|>", 92538), ("<|action_end|>", 92540), ("<|action_start|>", 92541), ("<|im_end|>", 92542), ("<|im_start|>", 92543)],
    "llama3_1_tools": [("<|finetune_right_pad_id|>", 128004), ("<|eom_id|>", 128008), ("<|python_tag|>", 128010)],
    "deepseek_r1": [("<think>", 128798), ("</think>", 128799)],
    "mistral_small": [("[SYSTEM_PROMPT]", 17), ("[/SYSTEM_PROMPT]", 18), ("[ARGS]", 32), ("[CALL_ID]", 33), ("[THINK]", 34), ("[/THINK]", 35)],
    "mistral_v3": [("[INST]", 32003), ("[/INST]", 32004), ("[TOOL_CALLS]", 32005), ("[TOOL_RESULTS]", 32008), ("[/TOOL_RESULTS]", 32009), ("[control_8]", 32010)],
    "kimi_k2": [("<|im_end|>", 100286), ("<|im_user|>", 100287), ("<|im_assistant|>", 100288), ("<|im_system|>", 100294), ("<|tool_calls_section_begin|>", 100295), ("<|tool_calls_section_end|>", 100296), ("<|tool_call_begin|>", 100297), ("<|tool_call_argument_begin|>", 100298), ("<|tool_call_end|>", 100299), ("<|im_middle|>", 100301), ("<think>", 100306), ("</think>", 100307)],
    "glm4_5": [("<|endoftext|>", 100257), ("[gMASK]", 100301), ("<sop>", 100303), ("<|system|>", 100305), ("<|user|>", 100306), ("<|assistant|>", 100307), ("<|observation|>", 100308), ("<think>", 100320), ("</think>", 100321), ("<tool_call>", 100322), ("</tool_call>", 100323), ("<tool_response>", 100324), ("</tool_response>", 100325), ("<arg_key>", 100326), ("</arg_key>", 100327), ("<arg_value>", 100328), ("</arg_value>", 100329)],
    "phi4": [("<|im_start|>", 100264), ("<|im_end|>", 100265), ("<|im_sep|>", 100266), ("<|dummy_85|>", 100349)],
    "phi4_mini": [("<|assistant|>", 200019), ("<|end|>", 200020), ("<|user|>", 200021), ("<|system|>", 200022), ("<|tool|>", 200023), ("<|/tool|>", 200024), ("<|tool_call|>", 200025), ("<|/tool_call|>", 200026), ("<|tool_response|>", 200027)],
    "yi": [("<|im_start|>", 6), ("<|im_end|>", 7)],
    "phi3": [("<|endoftext|>", 32000), ("<|assistant|>", 32001), ("<|system|>", 32006), ("<|end|>", 32007), ("<|user|>", 32010)],
}  # fmt: skip
NOT_SPECIAL = {"sop", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"}  # fmt: skip
BASES = {"llama3_1_tools": "llama3_1", "deepseek_r1": "deepseek_v3", "mistral_small": "mistral_nemo", "glm4_5": "gpt35turbo", "kimi_k2": "gpt35turbo", "mistral_v3": "llama2", "phi4": "gpt35turbo", "phi4_mini": "gpt4o", "phi3": "llama2", "qwen3_coder": "qwen3"}  # fmt: skip


def tokenizer_of(name):
    """The tokenizer, the key of its file, and the tokens that it has besides."""
    key = BASES.get(name, name)
    # Those of Phi-3 take the white space behind them.
    tokens = [[content, id, content not in NOT_SPECIAL, name == "phi3"] for content, id in TOKENS.get(name, [])]
    spec = json.loads((CACHE / key / "tokenizer.json").read_text())
    ids = {id for _, id, _, _ in tokens}
    vocab = spec["model"]["vocab"]
    for content in [content for content, id in vocab.items() if id in ids] if tokens else []:
        del vocab[content]
    spec["added_tokens"] = [token for token in spec["added_tokens"] if token["id"] not in ids]
    for content, id, special, rstrip in tokens:
        spec["added_tokens"].append({"id": id, "content": content, "single_word": False, "lstrip": False, "rstrip": rstrip, "normalized": False, "special": special})
    # An added token that is not in the vocabulary would be numbered anew.
    if tokens:
        vocab |= {token["content"]: token["id"] for token in spec["added_tokens"]}
    return Tokenizer.from_str(json.dumps(spec)), key, tokens


def encoded(tokenizer, parts):
    """The ids of the parts, and each message with where it is in them."""
    text = "".join(before + body + behind for before, body, behind, _ in parts)
    encoding = tokenizer.encode(text, add_special_tokens=False)
    spans = encoding.offsets

    def from_place(at):
        return next((token for token, (_, end) in enumerate(spans) if end > at), len(spans))

    out, at = [], 0
    for before, body, behind, message in parts:
        start, end = at + len(before), at + len(before) + len(body)
        first = from_place(start)
        last = next((token for token in range(first, len(spans)) if spans[token][0] >= end), len(spans)) if body else first
        next_at = end + len(behind)
        out.append([message["role"], message["content"], message["reasoning"], message["calls"], message["closed"], from_place(at), from_place(next_at), first, last])
        at = next_at
    return encoding.ids, out


def render(tokenizer, messages, given):
    """What the template makes of a conversation."""
    if all(message["content"] is not None for message in messages):
        return tokenizer.apply_chat_template(messages, tokenize=False, **given)
    # transformers 5 leaves out what is None before it renders, for which DeepSeek's template looks: rendered as 4 did.
    template = _compile_jinja_template(tokenizer.chat_template)
    return template.render(messages=messages, **tokenizer.special_tokens_map, **given)


def rendered(key, tokenizer):
    """Every conversation of a template that is shipped: its ids, its messages, where the assistant's turn is opened."""
    config = json.loads((CACHE / key / "tokenizer_config.json").read_text())
    template = config["chat_template"]
    if isinstance(template, list):
        template = next(entry["template"] for entry in template if entry["name"] == "default")
    special = {name: value["content"] if isinstance(value, dict) else value for name in ("bos_token", "eos_token") if (value := config.get(name))}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)
    fast.chat_template = template
    for messages, given, parts in cases(key):
        text = render(fast, messages, given)
        rule = "".join(before + body + behind for before, body, behind, _ in parts)
        assert text == rule, f"{key}: the rule is not the template's\n{text!r}\n{rule!r}"
        ids, out = encoded(tokenizer, parts)
        assert fast(text, add_special_tokens=False).input_ids == ids
        yield {"ids": ids, "messages": out}


# ---- templates that no package ships


def unchecked():
    """Name of the tokenizer, name of the template, and conversations as parts."""
    call = '{"name": "get_weather", "parameters": {"city": "Zürich"}}'
    header = "<|start_header_id|>{}<|end_header_id|>\n\n".format
    yield "llama3_1_tools", "llama3", [
        [plain("<|begin_of_text|>" + header("system"), "Environment: ipython", "<|eot_id|>", "system"), plain(header("user"), "weather?", "<|eot_id|>", "user"),
         part(header("assistant"), call, "<|eot_id|>", said("assistant", calls=[("get_weather", '{"city": "Zürich"}')])),
         plain(header("ipython"), '{"output": "sun"}', "<|eot_id|>", "tool"), plain(header("assistant"), "Sun.", "<|eot_id|>", "assistant")],
        [part(header("assistant"), "<|python_tag|>" + call, "<|eom_id|>", said("assistant", calls=[("get_weather", '{"city": "Zürich"}')]))],
        [part(header("assistant"), '<|python_tag|>brave_search.call(query="a b", n="2")', "<|eom_id|>", said("assistant", calls=[("brave_search", '{"query": "a b", "n": "2"}')]))],
        [plain(header("assistant"), "<|python_tag|>import os\nprint(1)", "<|eom_id|>", "assistant"), plain(header("ipython"), "1", "<|eot_id|>", "tool")],
        [plain(header("assistant"), '{"name": "x", "age": 3}', "<|eot_id|><|finetune_right_pad_id|><|finetune_right_pad_id|>", "assistant")],
    ]  # fmt: skip
    end, begin = "<｜end▁of▁sentence｜>", "<｜begin▁of▁sentence｜>"
    calls = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    yield "deepseek_r1", "deepseek", [
        [plain(begin + "<｜User｜>", "1+1?", "", "user"), part("<｜Assistant｜>", "<think>\nEasy.\n</think>\n\n2", end, said("assistant", "2", reasoning="Easy."))],
        [plain(begin + "<｜User｜>", "1+1?", "", "user"), part("<｜Assistant｜>", "<think>\n", "", said("assistant", closed=False))],
        [part("", "Easy.\n</think>\n\n2", end, said(None, "2", reasoning="Easy."))],
        [plain(begin, "Be brief.", "", "system"), plain("<｜User｜>", "go", "", "user"), part("<｜Assistant｜>", "<think>\nx\n</think>\n\nI look." + calls, end, said("assistant", "I look.", reasoning="x", calls=[("f", '{"a": 1}'), ("g", "{}")])),
         plain("<｜tool▁output▁begin｜>", "1", "<｜tool▁output▁end｜>", "tool"), plain("<｜tool▁output▁begin｜>", "2", "<｜tool▁output▁end｜>", "tool"), part("", "done", end, said(None, "done"))],
    ]  # fmt: skip
    yield "glm4_5", "glm4", [
        [plain("[gMASK]<sop><|system|>\n", "# Tools", "", "system"), plain("<|user|>\n", "weather?", "", "user"),
         part("<|assistant|>\n", "<think>I look.</think>\nOne moment.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Zürich</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>", "",
              said("assistant", "One moment.", reasoning="I look.", calls=[("get_weather", '{"city": "Zürich", "days": 3}')])),
         plain("<|observation|>\n<tool_response>\n", "sun\n", "\n</tool_response>\n", "tool"), plain("<tool_response>\n", "", "\n</tool_response>", "tool"), part("<|assistant|>\n", "<think></think>\nSun.", "", said("assistant", "Sun.")),
         plain("<|user|>\n", "more", "", "user"), part("<|assistant|>", "", "", said("assistant", closed=False))],
        [plain("[gMASK]<sop><|user|>\n", "hi", "", "user"), part("<|assistant|>\n", "<think></think>\n<tool_call>f\n</tool_call>", "", said("assistant", calls=[("f", "{}")])), plain("<|observation|>", "", "", "tool", closed=False)],
        [plain("[gMASK]<sop><|user|>\n", "hi", "", "user"), plain("<|assistant|>\n", "<tool_call>{\"name\": \"f\"}</tool_call>", "", "assistant"), plain("<|user|>", "", "", "user", closed=False)],
    ]  # fmt: skip
    start = "<|start|>"
    yield "gptoss", "harmony", [
        [plain(start + "system<|message|>", "You are ChatGPT.", "<|end|>", "system"), plain(start + "developer<|message|>", "# Instructions", "<|end|>", "developer"), plain(start + "user<|message|>", "weather?", "<|end|>", "user"),
         part(start + "assistant<|channel|>analysis<|message|>", "I look.\n", "<|end|>", said("assistant", reasoning="I look.\n")),
         part(start + "assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>", "{\"city\": \"Zürich\"}", "<|call|>", said("assistant", calls=[("get_weather", "{\"city\": \"Zürich\"}")])),
         plain(start + "functions.get_weather to=assistant<|channel|>commentary<|message|>", "\"sun\"", "<|end|>", "tool"),
         plain(start + "assistant<|channel|>final<|message|>", "Sun.", "<|return|>", "assistant")],
        [part(start + "assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>", "{\"a\": [1]}", "<|call|>", said("assistant", calls=[("f", "{\"a\": [1]}")]))],
        [part("<|channel|>analysis<|message|>", "Hm", "<|end|>", said(None, reasoning="Hm")), plain(start + "assistant<|channel|>final<|message|>", "Ok", "", "assistant", closed=False)],
        [plain(start + "assistant<|channel|>commentary to=functions.f<|message|>", "{\"a\": ", "<|end|>", "assistant"), plain(start + "assistant", "", "", "assistant", closed=False)],
    ]  # fmt: skip
    yield "mistral_small", "mistral", [
        [plain("<s>[SYSTEM_PROMPT]", "Be brief.", "[/SYSTEM_PROMPT]", "system"), plain("[INST]", "go", "[/INST]", "user"),
         part("", "[THINK]Hm.\n[/THINK]I look.[TOOL_CALLS]f[ARGS]{\"a\": 1}[TOOL_CALLS]g[CALL_ID]123456789[ARGS]{}", "</s>", said("assistant", "I look.", reasoning="Hm.\n", calls=[("f", "{\"a\": 1}"), ("g", "{}")])),
         plain("[TOOL_RESULTS]", "1", "[/TOOL_RESULTS]", "tool"), plain("", "done", "</s></s></s>", "assistant")],
        [plain("<s>[INST]", "go", "[/INST]", "user"), plain("", "[TOOL_CALLS]f[ARGS]{\"a\"", "</s>", "assistant")],
        [plain("<s>[INST]", "go", "[/INST]", "user"), plain("", "", "</s>", "assistant"), plain("[INST]", "", "[/INST]", "user")],
    ]  # fmt: skip
    # A space stands before each text: the one that the decoder of SentencePiece gives the first word behind a mark.
    yield "mistral_v3", "mistral-v3", [
        [plain("<s>[INST]", "go on", "[/INST]", "user"), part("", "[TOOL_CALLS][{\"name\": \"f\", \"arguments\": {}, \"id\": \"123456789\"}]", "</s>", said("assistant", calls=[("f", "{}")])),
         plain("[TOOL_RESULTS]", "one", "[/TOOL_RESULTS]", "tool"), plain("", "done now", "</s>", "assistant"), plain("[INST]", "thanks", "[/INST]", "user")],
    ]  # fmt: skip
    head = "<|im_{}|>{}<|im_middle|>".format
    result = "## Return of functions.f:0\n1"
    yield "kimi_k2", "kimi-k2", [
        [plain(head("system", "tool_declare"), "[]", "<|im_end|>", "system"), plain(head("system", "system"), "Be brief.", "<|im_end|>", "system"), plain(head("user", "user"), "go\n", "<|im_end|>", "user"),
         part(head("assistant", "assistant"), "<think>Hm.</think>I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": 1}<|tool_call_end|><|tool_call_begin|>functions.g.h:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>", "<|im_end|>",
              said("assistant", "I look.", reasoning="Hm.", calls=[("f", "{\"a\": 1}"), ("g.h", "{}")])),
         plain(head("system", "f"), result, "<|im_end|>", "tool"), plain(head("system", "tool"), result, "<|im_end|>", "tool"), plain(head("assistant", "assistant"), "", "", "assistant", closed=False)],
    ]  # fmt: skip
    yield "phi4", "phi4", [
        [plain("<|im_start|>system<|im_sep|>", "Be brief.", "<|im_end|>", "system"), plain("<|im_start|>user<|im_sep|>", "\nhi\n", "<|im_end|>", "user"), plain("<|im_start|>assistant<|im_sep|>", "Hello", "<|im_end|><|dummy_85|><|dummy_85|>", "assistant")],
        [plain("<|im_start|>user<|im_sep|>", "hi", "<|im_end|>", "user"), plain("<|im_start|>assistant<|im_sep|>", "", "", "assistant", closed=False)],
    ]  # fmt: skip
    yield "phi4_mini", "phi4-mini", [
        [plain("<|system|>", "Be brief.<|tool|>[]<|/tool|>", "<|end|>", "system"), plain("<|user|>", "hi", "<|end|>", "user"), part("<|assistant|>", "<|tool_call|>[{\"name\": \"f\", \"arguments\": {\"a\": 1}}]<|/tool_call|>", "<|end|>", said("assistant", calls=[("f", "{\"a\": 1}")])),
         plain("<|tool_response|>", "1", "<|end|>", "tool"), plain("<|assistant|>", "", "", "assistant", closed=False)],
    ]  # fmt: skip
    yield "phi3", "phi3", [
        [plain("<s><|user|>\n", "hi there", "<|end|>\n", "user"), plain("<|assistant|>\n", "Hello", "<|end|>\n<|endoftext|>", "assistant")],
    ]  # fmt: skip
    chatml = "<|im_start|>{}\n".format
    yield "yi", "chatml", [
        [plain(chatml("system"), "Be brief.", "<|im_end|>\n", "system"), plain(chatml("user"), "hi", "<|im_end|>\n", "user"), plain(chatml("assistant"), " Hello\n", "<|im_end|>", "assistant")],
    ]  # fmt: skip
    xml = "<tool_call>\n<function=run>\n<parameter=code>\nprint(1)\n\nx = \"</b>\"\n</parameter>\n<parameter=n>\n3\n</parameter>\n<parameter=opts>\n{\"a\": null}\n</parameter>\n</function>\n</tool_call>"
    arguments = '{"code": "print(1)\\n\\nx = \\"</b>\\"", "n": 3, "opts": {"a": null}}'
    yield "qwen3_coder", "chatml", [
        [plain(chatml("user"), "go", "<|im_end|>\n", "user"), part(chatml("assistant"), "I run.\n\n" + xml, "<|im_end|>\n", said("assistant", "I run.", calls=[("run", arguments)])),
         plain(chatml("user") + "<tool_response>\n", "1", "\n</tool_response>\n<|im_end|>\n", "tool"), plain(chatml("assistant"), "", "", "assistant", closed=False)],
        [part(chatml("assistant"), "<tool_call>\n<function=a>\n</function>\n</tool_call>\n<tool_call>\n<function=b>\n</function>\n</tool_call>", "<|im_end|>", said("assistant", calls=[("a", "{}"), ("b", "{}")]))],
    ]  # fmt: skip


SHIPPED = {"qwen2_5": "chatml", "qwen3": "chatml", "gemma3": "gemma", "llama3_1": "llama3", "deepseek_v3": "deepseek", "mistral_nemo": "mistral", "chatglm3": "chatglm3", "internlm2": "chatml", "command_r_plus": "command-r"}  # fmt: skip


def main():
    head = {"transformers": transformers.__version__, "seed": "the sum of the key's bytes", "conversations": CONVERSATIONS}
    lines = [line(head)]
    for key, template in SHIPPED.items():
        tokenizer, base, tokens = tokenizer_of(key)
        lines.append(line({"tokenizer": base, "tokens": tokens, "template": template, "checked": True}))
        lines += [line(case) for case in rendered(key, tokenizer)]
    for name, template, conversations in unchecked():
        tokenizer, base, tokens = tokenizer_of(name)
        lines.append(line({"tokenizer": base, "tokens": tokens, "template": template, "checked": False}))
        for parts in conversations:
            ids, messages = encoded(tokenizer, parts)
            lines.append(line({"ids": ids, "messages": messages}))
    text = "\n".join(lines) + "\n"
    if "--check" in sys.argv[1:]:
        if PATH.read_text() != text:
            sys.exit(f"{PATH.name} is not what the templates give; run tests/oracle/chat.py")
    else:
        PATH.write_text(text)
    print(f"{len(lines)} lines, {len(text.encode())} bytes")


main()
