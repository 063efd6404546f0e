/** The option `messages` through the package; what is written where is tested in Rust (tests/messages_written.rs). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Enricher, Tokenizer, memoryBytes, strip } from "../../pkg/node.js";
import * as worker from "../../pkg/worker-node.js";
import { OPEN, byteIds, chatMl, jsonBytes, needsGeneral } from "./support/tokenizers.js";

const tokenizer = Tokenizer.fromBytes(jsonBytes(chatMl()));
const prompt = [OPEN, ...byteIds("user\nHi"), OPEN + 1, ...byteIds("\n"), OPEN, ...byteIds("assistant\n")];
const call = {
  op_name: "generate",
  id: "c",
  attributes: {},
  inputs: { prompt_ids: prompt },
  output: { token_ids: [...byteIds("Hello"), OPEN + 1] },
};
const body = jsonBytes({ batch: [call] });
const asked = { role: "user", content: "Hi" };
const answered = [{ index: 0, message: { role: "assistant", content: "Hello" } }];

/** @param {Uint8Array} bytes */
const callIn = (bytes) => JSON.parse(new TextDecoder().decode(bytes)).batch[0];

/** @param {{ body: Uint8Array, report: import("../../pkg/report.js").Report }} enriched */
function assertWritten({ body, report }) {
  const { inputs, output } = callIn(body);
  assert.deepEqual([inputs.messages, output.choices], [[asked], answered]);
  assert.deepEqual(
    report.messages?.map(({ path, status, count }) => [path, status, count]),
    [["/batch/0/inputs/messages", "decoded", 1], ["/batch/0/output/choices", "decoded", 1]],
  );
  assert.equal(report.totals.messages, 2);
}

test("without the option there are texts alone, and no word of conversations", () => {
  const { body: out, report } = new Enricher(tokenizer).enrichBody(body);
  assert.equal(callIn(out).inputs.messages, undefined);
  assert.equal("messages" in report || "messages" in report.totals || "noMessages" in report.totals, false);
  assert.equal(callIn(new Enricher(tokenizer, { messages: false }).enrichBody(body).body).inputs.messages, undefined);
});

test("both ways to an Enricher write conversations, and strip takes them out", async () => {
  for (const enricher of [new Enricher(tokenizer, { messages: true }), await Enricher.create({ "*": tokenizer }, { messages: true })]) {
    const enriched = enricher.enrichBody(body);
    assertWritten(enriched);
    assert.deepEqual(strip(enriched.body, { messages: true }), body);
    assert.deepEqual(callIn(strip(enriched.body)).inputs.messages, [asked]);
    enricher.free();
  }
  assert.equal(tokenizer.decode(byteIds("still here")), "still here");
});

test("with a tokenizer that needs the general engine all is there", async () => {
  const general = await Tokenizer.load(jsonBytes(needsGeneral()));
  const enricher = new Enricher({ "other/*": general, "*": tokenizer }, { messages: true });
  assertWritten(enricher.enrichBody(body));
});

test("parsed bodies get conversations too, and share what did not change", () => {
  const parsed = { batch: [call] };
  const { span, report } = new Enricher(tokenizer, { messages: true }).enrich(parsed);
  assert.deepEqual(span.batch[0].inputs.messages, [asked]);
  assert.equal(span.batch[0].inputs.prompt_ids, prompt);
  assert.equal(report.totals.messages, 2);
});

test("why there is no conversation stands in the report", () => {
  const inputs = { prompt_ids: [...prompt, 9999] };
  const { report } = new Enricher(tokenizer, { messages: true }).enrichBody(jsonBytes({ batch: [{ ...call, inputs }] }));
  assert.deepEqual(report.totals.noMessages, { unknown_ids: 1 });
  const [told] = report.messages ?? [];
  assert.deepEqual([told.path, told.status, told.reason], ["/batch/0", "skipped", "unknown_ids"]);
});

test("many bodies take no more memory than a few", () => {
  const enricher = new Enricher(tokenizer, { messages: true });
  for (let i = 0; i < 100; i++) enricher.enrichBody(body);
  const before = memoryBytes();
  for (let i = 0; i < 5_000; i++) enricher.enrichBody(body);
  assert.equal(memoryBytes(), before);
});

test("the worker writes the same", async () => {
  const remote = await worker.Tokenizer.load(jsonBytes(chatMl()));
  const enricher = await worker.Enricher.create(remote, { messages: true });
  const enriched = await enricher.enrichBody(body);
  assertWritten(enriched);
  assert.deepEqual(await worker.strip(enriched.body, { messages: true }), body);
  worker.terminate();
});
