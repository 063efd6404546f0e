/** Conversations in a real MLflow, as its client reads them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Enricher, read } from "../../pkg/node.js";
import { freshId, recorded } from "./support/fixtures.js";
import { command, exporter, fresh, isStored, python, spansOf, tokenizer, value } from "./support/mlflow-tests.js";

const CHAT = "mlflow.chat.messages";
/** The messages of a span, in short. @param {any} span @returns {string[] | undefined} */
const rolesOf = (span) => span.attributes[CHAT] === undefined ? undefined : value(span, CHAT).map((/** @type {any} */ { role }) => role);
/** @param {any[]} spans @param {string} name */
const named = (spans, name) => spans.filter((span) => span.name === name);

/** The recorded rollouts as other traces: one that is there under the same id would be written over. */
async function rollouts() {
  const ids = new Map();
  const raw = (/** @type {string} */ id) => Buffer.from(id, "hex").toString("latin1");
  const bodies = [];
  for (const body of recorded("verl-qwen3-ids")) {
    for (const { traceId } of await read(body)) if (!ids.has(traceId)) ids.set(traceId, freshId(16));
    let text = body.toString("latin1");
    for (const [id, other] of ids) text = text.replaceAll(raw(id), raw(other)).replaceAll(`tr-${id}`, `tr-${other}`);
    bodies.push(Buffer.from(text, "latin1"));
  }
  return bodies;
}

/** What must be stored of the recorded rollouts. @param {string} experiment @param {(trace: any) => boolean} [isDone] */
async function assertStored(experiment, isDone = () => true) {
  const spans = (await python.ask("traces", experiment)).filter(isDone).flatMap(spansOf);
  const calls = named(spans, "LLMServerClient.generate");
  assert.ok(calls.length > 0);
  for (const span of calls) {
    const roles = /** @type {string[]} */ (rolesOf(span));
    assert.deepEqual([roles[0], roles.at(-1)], ["system", "assistant"]);
  }
  for (const span of named(spans, "HermesToolParser.extract_tool_calls")) assert.equal(rolesOf(span), undefined);
  return spans;
}

test("what is sent with conversations is read with them", async () => {
  const experiment = fresh();
  const enricher = new Enricher(tokenizer, { messages: true });
  for (const body of await rollouts()) {
    const { body: enriched, report } = enricher.enrichBody(body);
    assert.deepEqual(Object.keys(report.totals.noMessages ?? {}).filter((reason) => reason !== "response_in_inputs"), []);
    isStored(await exporter(experiment).export(enriched));
  }
  await assertStored(experiment);
});

test("the command writes conversations into stored traces, once, and not if it is told so", async () => {
  const [experiment, without] = [fresh(), fresh()];
  for (const body of await rollouts()) isStored(await exporter(without).export(body));
  assert.equal((await command(without, "--mode", "in-place", "--no-messages")).status, 0);
  const bare = (await python.ask("traces", without)).flatMap(spansOf);
  assert.ok(bare.length > 1 && bare.every((/** @type {any} */ span) => rolesOf(span) === undefined));

  for (const body of await rollouts()) isStored(await exporter(experiment).export(body));
  const { status, stderr } = await command(experiment, "--mode", "in-place");
  assert.equal(status, 0, stderr);
  assert.match(stderr, /\d+ conversations written/);
  // Traces whose root did not come are unfinished to MLflow, and left alone.
  const isDone = (/** @type {any} */ { tags }) => tags["token2text.version"] !== undefined;
  const spans = await assertStored(experiment, isDone);
  await command(experiment, "--mode", "in-place");
  assert.deepEqual(await assertStored(experiment, isDone), spans);
});
