/** The calls of tests/fixtures/rollout-trace/calls.json, made in Node as `rollout_trace.py` makes them under verl. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const FOLDER = new URL("../../fixtures/rollout-trace/", import.meta.url);
export const EXPERIMENT = "qwen3-calls";

class RuntimeError extends Error {}
class ValueError extends Error {}
const ERRORS = { RuntimeError, ValueError };

/**
 * A trajectory, or a call with what it makes.
 *
 * @typedef {object} Step
 * @property {Record<string, any>} [attributes] By verl's names.
 * @property {string} [op]
 * @property {Record<string, unknown>} [inputs]
 * @property {unknown} [output]
 * @property {{ type: keyof typeof ERRORS, message: string }} [error] What it throws.
 * @property {boolean} [caught] Whether the caller goes on.
 * @property {boolean} [parallel]
 * @property {Step[]} [calls]
 */
/** @typedef {Pick<typeof import("../../../pkg/rollout-trace.js"), "traced" | "withAttributes">} Tracing */

/** @param {string} file @returns {any} */
export function fixture(file) {
  return JSON.parse(readFileSync(new URL(file, FOLDER), "utf8"));
}

/** All trajectories at once. @param {Tracing} tracing */
export function makeCalls(tracing) {
  return inside(tracing, { ...fixture("calls.json"), parallel: true });
}

/** @param {Tracing} tracing @param {Step} step @returns {Promise<unknown>} */
async function run(tracing, step) {
  if (step.attributes) {
    const { sample_index: sampleIndex, rollout_n: rolloutN, ...rest } = step.attributes;
    return tracing.withAttributes({ ...rest, sampleIndex, rolloutN }, () => inside(tracing, step));
  }
  const call = tracing.traced(String(step.op), async (/** @type {unknown} */ _inputs) => {
    await inside(tracing, step);
    if (step.error) throw new ERRORS[step.error.type](step.error.message);
    return step.output;
  });
  try {
    return await call(step.inputs);
  } catch (error) {
    if (!step.caught) throw error;
  }
}

/** @param {Tracing} tracing @param {Step} step */
async function inside(tracing, { calls = [], parallel }) {
  if (!parallel) {
    for (const inner of calls) await run(tracing, inner);
    return;
  }
  await Promise.all(
    calls.map(async (inner, i) => {
      // Ends in another order than it began.
      await sleep(10 * (i % 3));
      await run(tracing, inner).catch(() => {});
    }),
  );
}
