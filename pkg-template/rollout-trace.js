/**
 * `token2text/rollout-trace`: verl's tracing of rollouts, for agents in Node. Calls are recorded with inputs, output or exception, nesting
 * and times, and reach MLflow, Trackio, Weave or whoever takes OTLP in the shape in which verl's Python writes them there.
 *
 * Values are copied at the call; JSON, decoding and sending come later. Tracing never delays, fails or alters a traced call.
 */
import { Token2TextError, describe } from "./errors.js";
import { choose } from "./rollout-trace/sampling.js";
import { setUp } from "./rollout-trace/setup.js";

export { Token2TextError } from "./errors.js";

/** @typedef {import("./rollout-trace/setup.js").TraceOptions} TraceOptions */
/** @typedef {import("./rollout-trace/tracer.js").Attributes} Attributes */
/** @typedef {import("./rollout-trace/queue.js").TraceStats} TraceStats */

const NOTHING = { open: 0, recorded: 0, waiting: 0, sent: 0, dropped: 0, failed: 0, undecoded: 0 };

/** @type {import("./rollout-trace/setup.js").Active | undefined} */
let active;
let isStarting = false;

/**
 * Begins to trace. Until then, and without a backend, `traced` functions do what they did before.
 *
 * @param {TraceOptions} options
 * @returns {Promise<void>} Once the tokenizer is loaded. No backend is asked yet.
 * @throws {Token2TextError} `invalid_options`, also where tracing is on already; of a tokenizer as `Tokenizer.load`.
 *
 * @example
 *   await init({ backend: "mlflow", projectName: "agents", experimentName: "qwen3", token2text: "tokenizer.json" });
 */
export async function init(options) {
  if (active || isStarting) throw new Token2TextError("invalid_options", "tracing is on already; `await shutdown()` before another `init`");
  isStarting = true;
  try {
    active = await setUp(options);
  } finally {
    isStarting = false;
  }
}

/**
 * Runs a trajectory: what is traced inside, however deep and however late, has these attributes.
 *
 * @template T
 * @param {Attributes} attributes
 * @param {() => T} fn
 * @returns {T} Of a promise another one with the same outcome.
 *
 * @example
 *   await withAttributes({ step: 3, sampleIndex: 17, rolloutN: 0, name: "agent_loop" }, () => agent.run(prompt));
 */
export function withAttributes(attributes, fn) {
  return active ? active.tracer.trajectory(attributes ?? {}, fn) : fn();
}

/**
 * A function that does what another one does, and is recorded: its inputs as they are at the call, and what it returns or throws,
 * once a promise of that has settled or a generator has ended. It has the same `this`, and throws the same. A subclass of Promise, a stream
 * and the like are passed on as they are: trace an `async` function that waits for them.
 *
 * @template {(...args: any[]) => any} F
 * @param {string} name As verl has Python's qualified names: `"AgentLoop.run"`.
 * @param {F} fn
 * @param {{ parameters?: readonly string[] }} [options] `parameters`: names of the arguments. Default: an only argument that is an object
 *   has them itself; others are `arg0`, `arg1`.
 * @returns {F}
 * @throws {Token2TextError} `invalid_options`: that is no function.
 *
 * @example
 *   const generate = traced("LLMServerClient.generate", async ({ prompt_ids }) => ({ token_ids: await ask(prompt_ids) }));
 */
export function traced(name, fn, { parameters } = {}) {
  if (typeof fn !== "function") throw new Token2TextError("invalid_options", `traced takes a function, not ${describe(fn)}`);
  const op = String(name);
  // All else that the function is and has stays as it is.
  return new Proxy(fn, {
    apply(target, self, args) {
      const call = active?.tracer.begin(op, args, parameters);
      return call ? call.make(() => Reflect.apply(target, self, args)) : Reflect.apply(target, self, args);
    },
  });
}

/**
 * Which rows of a batch are traced, by verl's own rule: `maxSamplesPerStepPerWorker` of its different samples, at random, with all of
 * their rows. Without a batch, `withAttributes` takes the first different samples of each step.
 *
 * @param {readonly (number | string)[]} sampleIndices The sample of each row.
 * @returns {boolean[]} For each row what goes into the attribute `trace`.
 *
 * @example
 *   const isTraced = chooseSamples(batch.map(({ index }) => index));
 */
export function chooseSamples(sampleIndices) {
  return active ? active.tracer.choose(sampleIndices) : choose(sampleIndices, 0);
}

/**
 * Sends what is there now, and tells what became of everything. It keeps the process alive, which tracing by itself does not.
 *
 * @param {{ timeoutMillis?: number }} [options] Longest wait. Default: until all is sent or has failed.
 * @returns {Promise<TraceStats>}
 */
export async function flush({ timeoutMillis = Infinity } = {}) {
  await active?.tracer.queue.flush(timeoutMillis);
  return stats();
}

/** What became of all calls since `init`. @returns {TraceStats} */
export function stats() {
  return active ? { open: active.tracer.open, ...active.tracer.queue.stats() } : { ...NOTHING };
}

/**
 * Ends tracing after a `flush`; what still waits then, or is recorded later, is dropped. `init` may begin anew.
 *
 * @param {{ timeoutMillis?: number }} [options] As of `flush`.
 * @returns {Promise<TraceStats>}
 */
export async function shutdown(options) {
  const ending = active;
  const told = await flush(options);
  if (active === ending) active = undefined;
  ending?.end();
  return told;
}
