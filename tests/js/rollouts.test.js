/** `readRollouts` and `token2text check`; what they find is tested on planted faults in Rust (tests/rollouts). */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, test } from "node:test";
import { Token2TextError, Tokenizer, memoryBytes, readRollouts } from "../../pkg/node.js";
import * as worker from "../../pkg/worker-node.js";
import { token2text } from "./support/cli.js";

const QWEN = fileURLToPath(new URL("../../.cache/tokenizers/qwen3/tokenizer.json", import.meta.url));
const CALLS = fileURLToPath(new URL("../fixtures/captures/verl-calls-qwen3/calls.jsonl", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "token2text-"));

after(() => {
  worker.terminate();
  rmSync(root, { recursive: true });
});

/** @param {string[]} args */
async function run(args) {
  const { stdout, ...rest } = await token2text(args);
  return { ...rest, stdout: stdout.toString() };
}

/** @type {Tokenizer} */
let tokenizer;
before(async () => {
  tokenizer = await Tokenizer.load(QWEN);
});

/** Ids of a conversation with a tool, and what verl logs of its two turns. */
async function conversation() {
  const encoding = await Tokenizer.load(QWEN, { engine: "general" });
  const ids = (/** @type {string} */ text) => [...encoding.encode(text)];
  const prompt = ids("<|im_start|>user\nWhat is 6 times 7?<|im_end|>\n<|im_start|>assistant\n");
  const first = ids("<think>\nEasy.\n</think>\n\nLet me see. The answer is forty-two<|im_end|>");
  const next = ids("\n<|im_start|>user\nAre you sure?<|im_end|>\n<|im_start|>assistant\n");
  const second = ids('<tool_call>\n{"name": "multiply", "arguments": {"a": 6, "b": 7}}\n</tool_call><|im_end|>');
  return { encoding, prompt, first, second, later: [...prompt, ...first, ...next] };
}

/** @param {number[]} prompt @param {number[]} response @param {object} [more] */
const record = (prompt, response, more) => ({
  name: "LLMServerClient.generate",
  inputs: { request_id: "r1", prompt_ids: prompt },
  outputs: { token_ids: response, log_probs: response.map(() => -0.5), ...more },
});
/** @param {object[]} records */
const lines = (records) => new TextEncoder().encode(records.map((one) => `${JSON.stringify(one)}\n`).join(""));

test("a rollout is its calls, whose which token is, messages and sums", async () => {
  const { prompt, first, second, later } = await conversation();
  const { rollouts, skipped } = await readRollouts(lines([record(prompt, first), record(later, second)]), tokenizer);
  assert.deepEqual(skipped, []);
  assert.equal(rollouts.length, 1);
  const [{ calls, findings, statistics, template, requestId }] = rollouts;
  assert.deepEqual([template, requestId, findings], ["chatml", "r1", []]);
  assert.deepEqual(calls.map(({ role, parent, join, common, continued }) => ({ role, parent, join, common, continued })), [
    { role: "turn", parent: undefined, join: undefined, common: 0, continued: 0 },
    { role: "turn", parent: 0, join: "extends", common: prompt.length + first.length, continued: prompt.length + first.length },
  ]);
  assert.deepEqual(calls[1].inserted, [prompt.length + first.length, prompt.length + first.length + 1], "the line feed behind the end");
  assert.equal(calls[1].divergence, undefined);
  assert.deepEqual([calls[1].statistics.marksInside, calls[1].statistics.loops], [[], []]);
  assert.deepEqual([...calls[1].ids], [...later, ...second]);
  assert.equal(calls[1].prompt, later.length);
  assert.equal(calls[1].ids.buffer.byteLength, calls[1].ids.byteLength, "a buffer of its own");
  assert.deepEqual(
    calls[1].segments.map(({ kind }) => kind),
    ["prompt", "model", "inserted", "observation", "inserted", "model"],
  );
  const messages = calls.flatMap((call) => call.messages.map(({ role, content, reasoning, toolCalls }) => ({ role, content, reasoning, toolCalls })));
  assert.deepEqual(messages.filter(({ role }) => role), [
    { role: "user", content: "What is 6 times 7?", reasoning: undefined, toolCalls: undefined },
    { role: "assistant", content: "Let me see. The answer is forty-two", reasoning: "Easy.", toolCalls: undefined },
    { role: "assistant", content: "Let me see. The answer is forty-two", reasoning: "Easy.", toolCalls: undefined },
    { role: "user", content: "Are you sure?", reasoning: undefined, toolCalls: undefined },
    { role: "assistant", content: "", reasoning: undefined, toolCalls: [{ name: "multiply", arguments: '{"a": 6, "b": 7}' }] },
  ].filter((_, at) => at !== 2 || calls[1].messages[0].tokens[0] < calls[1].continued));
  assert.equal(statistics.turns, 2);
  assert.equal(statistics.tokens.model, first.length + second.length);
  assert.equal(statistics.toolCalls, 1);
  assert.deepEqual(statistics.logprobs, { count: first.length + second.length, mean: -0.5, least: -0.5 });
});

test("findings have sides, lines that cannot be read are told", async () => {
  const { encoding, prompt, first, second, later } = await conversation();
  const at = prompt.length + first.length - 3;
  const word = encoding.decode(first.slice(-3, -2));
  const halves = [...encoding.encode(word.slice(0, 2)), ...encoding.encode(word.slice(2))];
  const changed = [...later.slice(0, at), ...halves, ...later.slice(at + 1)];
  const body = new TextDecoder().decode(lines([record(prompt, first), record(changed, second)]));
  const { rollouts, skipped } = await readRollouts(new TextEncoder().encode(`${body}{"broken\n`), tokenizer);
  assert.equal(skipped.length, 1);
  assert.equal(skipped[0].reason, "invalid_body");
  const [finding] = rollouts[0].findings;
  assert.equal(finding.code, "retokenized");
  assert.equal(finding.level, "error");
  assert.deepEqual(finding.tokens?.[0], at);
  assert.equal(finding.before?.text, finding.after?.text);
  assert.notDeepEqual(finding.before?.ids, finding.after?.ids);
  const { before, after } = finding;
  assert.deepEqual(rollouts[0].calls[1].divergence, { at, before, after });
});

test("drift needs a tokenizer that encodes, and is found with it", async () => {
  const { encoding, prompt, first } = await conversation();
  const spelled = [...first.slice(0, -1), ...["<", "|", "im", "_end", "|", ">"].flatMap((part) => [...encoding.encode(part)]), ...first.slice(-1)];
  const body = lines([record(prompt, spelled)]);
  const options = { drift: true };
  await assert.rejects(readRollouts(body, tokenizer, options), (/** @type {Token2TextError} */ error) => error.code === "engine_not_available");
  const { rollouts } = await readRollouts(body, encoding, options);
  assert.deepEqual(rollouts[0].findings.map(({ code }) => code), ["special_as_text"]);
  assert.deepEqual(rollouts[0].findings[0].after?.ids, [151645]);
});

test("wrong options are refused, and a call can be given up", async () => {
  const body = readFileSync(CALLS);
  const fails = (/** @type {any} */ options, /** @type {string} */ code, /** @type {RegExp} */ words) =>
    assert.rejects(readRollouts(body, tokenizer, options), (/** @type {Token2TextError} */ error) => error.code === code && words.test(error.message));
  await fails({ drfit: true }, "invalid_options", /no option `drfit`/);
  await fails({ template: "gemma" }, "invalid_options", /no chat template `gemma` fits/);
  await fails({ maxTokens: -1 }, "invalid_options", /maxTokens/);
  await fails({ onProgress: 7 }, "invalid_options", /onProgress/);
  await fails({ signal: AbortSignal.abort() }, "aborted", /aborted/);
  assert.ok(memoryBytes() > 0);
});

test("in the worker it is the same, with progress", async () => {
  const body = readFileSync(CALLS);
  const here = await readRollouts(body, tokenizer);
  const there = await worker.Tokenizer.load(QWEN);
  /** @type {unknown[]} */
  const progress = [];
  const answer = await worker.readRollouts(body, there, { onProgress: (one) => progress.push(one) });
  assert.deepEqual(answer, here);
  assert.deepEqual(progress, [{ done: 1, total: 2 }, { done: 2, total: 2 }]);
});

test("check: nothing found, then a table of what was", async () => {
  const clean = await run(["check", CALLS, "--tokenizer", QWEN]);
  assert.equal(clean.status, 0, clean.stderr);
  assert.match(clean.stdout, /step 3, sample 17, rollout 0 +3 +485 +172 +-0\.308 +none/);
  assert.match(clean.stderr, /2 rollouts, 6 turns, 809 tokens: nothing found/);

  const { prompt, first } = await conversation();
  const file = join(root, "bad.jsonl");
  writeFileSync(file, lines([record(prompt, first, { log_probs: first.map(() => 0.5) }), record(prompt, first.slice(0, -1), { log_probs: null })]));
  const bad = await run(["check", file, "-t", QWEN, "--no-drift"]);
  assert.equal(bad.status, 1);
  assert.match(bad.stdout, /error +bad_logprob: \d+ from token \d+ to \d+, the first 0\.5: .*LLMServerClient\.generate at \/0, tokens/);
  assert.doesNotMatch(bad.stdout, /truncated/);
  const all = await run(["check", file, "-t", QWEN, "--no-drift", "--level", "info"]);
  assert.match(all.stdout, /info +truncated: /);
  const json = await run(["check", file, "-t", QWEN, "--no-drift", "--json", "--level", "error"]);
  assert.equal(json.status, 1);
  const told = json.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(told.flatMap(({ findings }) => findings.map((/** @type {any} */ { code }) => code)).sort(), ["bad_logprob", "truncated"]);
  assert.equal(told[0].calls[0].tokens, prompt.length + first.length);
  assert.equal("messages" in told[0].calls[0], false);
});

test("check: wrong usage and input", async () => {
  for (const [args, words] of /** @type {[string[], RegExp][]} */ ([
    [[CALLS], /check needs a tokenizer/],
    [[CALLS, "-t", QWEN, "--level", "bad"], /--level must be info, warning, error/],
    [["/nowhere.jsonl", "-t", QWEN, "--no-drift"], /there is no file/],
    [[CALLS, "-t", QWEN, "--no-drift", "--template", "gemma"], /no chat template `gemma` fits/],
  ])) {
    const { status, stderr } = await run(["check", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, words);
  }
  const help = await run(["check", "--help"]);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /Usage: token2text check/);
  writeFileSync(join(root, "none.jsonl"), '{"a": 1}\n');
  const none = await run(["check", join(root, "none.jsonl"), "-t", QWEN, "--no-drift"]);
  assert.equal(none.status, 0);
  assert.match(none.stdout, /no rollouts: no span has token ids/);
});

test("the docs show what check says", async () => {
  const cwd = fileURLToPath(new URL("../../", import.meta.url));
  const docs = readFileSync(join(cwd, "docs/rollouts.md"), "utf8");
  const [, command, output] = /\$ token2text (check [^\n]+)\n(.*?)\n```/s.exec(docs) ?? assert.fail("no example");
  const { stdout, stderr } = await token2text(command.split(" "), { cwd });
  assert.equal(`${stdout}${stderr}`.trimEnd(), output);
});
