/** Recorded verl rollouts as spans, each loop with the calls in it, and their texts by Python's `tokenizers`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { read } from "../pkg/node.js";
import { ROOT } from "./lib.js";

/** @typedef {import("../pkg/span.js").Span} Span */

/** What runs a rollout; the other calls are in it. */
const LOOP = "ToolAgentLoop.run";

/**
 * The rollouts of a capture of verl's calls, each a trace of its own: its calls as they ended, its loop at the end. When they were is
 * not in the recording, so they end now.
 *
 * @param {string} capture A folder of tests/fixtures/captures.
 * @param {(nth: number) => Record<string, number | boolean>} [factsOf] Other attributes of the nth rollout, as verl writes them.
 * @returns {Promise<Span[][]>}
 */
export async function recordedRollouts(capture, factsOf = () => ({})) {
  const now = Date.now();
  const calls = await read(readFileSync(join(ROOT, "tests/fixtures/captures", capture, "calls.jsonl")));
  /** @type {Span[][]} */
  const rollouts = [[]];
  for (const call of calls) {
    rollouts[rollouts.length - 1].push(call);
    if (call.name === LOOP) rollouts.push([]);
  }
  let number = 0;
  return rollouts.filter(({ length }) => length > 0).map((calls, nth) => {
    const traceId = crypto.randomUUID().replaceAll("-", "");
    const first = number + 1;
    const loopId = idOf(number + calls.length);
    return calls.map((call) => {
      const spanId = idOf(++number);
      const isLoop = call.name === LOOP;
      const start = now - 100 * (isLoop ? first + calls.length - number + 10 : first + calls.length - number);
      const end = isLoop ? now + 100 : start + 90;
      const attributes = JSON.stringify({ ...JSON.parse(call.attributes ?? "{}"), ...factsOf(nth) });
      return { ...call, attributes, traceId, spanId, parentId: isLoop ? undefined : loopId, startUnixNano: `${start}000000`, endUnixNano: `${end}000000` };
    });
  });
}

/** The texts of such a capture. @param {string} capture @returns {string[]} */
export function recordedTexts(capture) {
  const expected = JSON.parse(readFileSync(join(ROOT, "tests/fixtures/captures", capture, "expected.json"), "utf8"));
  return expected.filter((/** @type {any} */ { rule, status }) => rule === "verl" && status === "ok").map((/** @type {any} */ { text }) => text);
}

/** The texts that spans have got. @param {readonly Span[]} spans @returns {Set<string>} */
export function textsOf(spans) {
  /** @type {Set<string>} */
  const texts = new Set();
  for (const json of spans.flatMap(({ inputs = "null", output = "null" }) => [inputs, output])) {
    JSON.parse(json, (key, value) => {
      if (key.endsWith("_text") && typeof value === "string") texts.add(value);
      return value;
    });
  }
  return texts;
}

/** @param {number} number */
const idOf = (number) => number.toString(16).padStart(16, "0");
