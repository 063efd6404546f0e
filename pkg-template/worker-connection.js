/** The line to the worker: calls go out, answers come back; a worker that ends is replaced at the next call. */
import { Token2TextError, describe, messageOf } from "./errors.js";
import { isKind } from "./source.js";
import { outgoing } from "./worker-transfer.js";

/**
 * A running worker, the same for a Web Worker and for `worker_threads`.
 *
 * @typedef {object} Thread
 * @property {(message: unknown, transfer: Transferable[]) => void} post
 * @property {() => void} end
 * @property {(isBusy: boolean) => void} [hold] Keeps the process alive, or lets it end. Only where a worker does that.
 */
/**
 * @typedef {object} ThreadEvents
 * @property {(message: any) => void} onMessage
 * @property {(reason: string) => void} onEnd The worker failed, or ended by itself.
 */
/** @typedef {string | URL | (() => unknown)} WorkerSource Where the worker's script is, or a function that starts the worker. */
/** @typedef {(events: ThreadEvents, source?: WorkerSource) => Thread} Spawn */
/**
 * @typedef {object} Call
 * @property {string} method
 * @property {unknown[]} args
 * @property {number} [target] The handle of the object whose method is called.
 * @property {number} [makes] The handle that the result gets; it stays in the worker.
 * @property {AbortSignal} [signal]
 * @property {(progress: any) => void} [onProgress]
 */
/**
 * A call that waits for its answer.
 *
 * @typedef {object} Pending
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {AbortSignal} [signal]
 * @property {(progress: any) => void} [onProgress]
 * @property {Token2TextError} [failure] Why it was given up on this side.
 */

/**
 * What differs between Node and browsers.
 *
 * @typedef {object} Platform
 * @property {Spawn} spawn
 * @property {(address: string | URL) => string} resolve An address as it is understood in the worker, which stands elsewhere.
 */

/** @type {Platform} */
let platform;
/** @type {Thread | undefined} */
let thread;
/** Settles when the running worker is ready. @type {Promise<void> | undefined} */
let ready;
let hasStarted = false;
/** What `init` was given, for each worker. @type {{ source?: WorkerSource, args: unknown[] }} */
let setup = { args: [] };
/** Counts workers: what was made in one is gone in the next. */
let generation = 1;
let lastId = 0;
/** @type {Map<number, Pending>} */
const pending = new Map();

/** @param {Platform} value */
export function setPlatform(value) {
  platform = value;
}

/** Addresses made absolute, anything else as it is. @template T @param {T} value */
export function absolute(value) {
  const isAddress = typeof value === "string" || isKind(value, "URL");
  return isAddress ? platform.resolve(/** @type {string} */ (value)) : value;
}

/** What a function for `worker` has given, if it is one. @param {any} worker */
export function checkWorker(worker) {
  if (typeof worker?.postMessage === "function" && typeof worker.terminate === "function") return worker;
  throw new Token2TextError("invalid_options", `the function \`worker\` must give a Worker, not ${describe(worker)}`);
}

/** @param {typeof setup} value */
export function configure(value) {
  if (!thread) setup = value;
}

/** Starts the worker unless it runs. @returns {Promise<void>} */
export function start() {
  const mine = generation;
  ready ??= Promise.resolve().then(() => startNow(mine));
  return ready;
}

/** @param {number} mine */
async function startNow(mine) {
  try {
    if (mine !== generation) throw lost("it was ended before it was started");
    thread = startThread();
    await send({ method: "init", args: setup.args });
    hasStarted = true;
  } catch (error) {
    if (mine === generation) end(messageOf(error));
    throw error;
  }
}

function startThread() {
  const mine = generation;
  // A worker that was replaced has nothing more to say.
  const events = {
    onMessage: (/** @type {any} */ message) => mine === generation && receive(message),
    onEnd: (/** @type {string} */ reason) => mine === generation && end(reason),
  };
  try {
    return platform.spawn(events, setup.source);
  } catch (error) {
    if (error instanceof Token2TextError) throw error;
    throw new Token2TextError("unreadable_source", `the worker cannot be started: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Ends the worker. Calls that wait are rejected with `instance_lost`; the next call starts another worker, in which
 * tokenizers and enrichers are made again when they are used.
 *
 * @param {string} reason
 * @param {{ isWanted?: boolean }} [options] Whether the caller ends it, and not a failure.
 */
export function end(reason, { isWanted = false } = {}) {
  const error = hasStarted || isWanted ? lost(reason) : new Token2TextError("unreadable_source", `the worker cannot be started: ${reason}`);
  const [ended, waiting] = [thread, [...pending.values()]];
  pending.clear();
  thread = ready = undefined;
  hasStarted = false;
  generation++;
  // Last: some runtimes tell of the end at once.
  ended?.end();
  for (const { reject } of waiting) reject(error);
}

/** @param {string} reason */
function lost(reason) {
  return new Token2TextError("instance_lost", `the worker ended before this call was done (${reason}); the next call starts another`);
}

export function isStarted() {
  return hasStarted;
}

/** Which worker runs, or is the next to run; from 1. */
export function workerNumber() {
  return generation;
}

export function nextId() {
  return ++lastId;
}

/** Sends what has no answer, if a worker runs. @param {unknown} message */
export function post(message) {
  thread?.post(message, []);
}

/** Calls a function of the worker; at once if it runs. @param {Call} call @returns {Promise<any>} */
export function call(call) {
  return hasStarted ? send(call) : start().then(() => send(call));
}

/** @param {Call} call @returns {Promise<any>} */
export function send({ signal, onProgress, ...call }) {
  const id = nextId();
  return new Promise((resolve, reject) => {
    if (!thread) throw lost("it was ended before this was sent");
    const { hold } = thread;
    const abort = () => post({ abort: id });
    /** @type {Transferable[]} */
    const moves = [];
    const args = call.args.map((value) => outgoing(value, moves));
    thread.post({ ...call, args, id, reports: onProgress !== undefined, isAborted: signal?.aborted }, moves);
    signal?.addEventListener("abort", abort);
    const settle = () => signal?.removeEventListener("abort", abort);
    pending.set(id, {
      resolve: (value) => (settle(), resolve(value)),
      reject: (error) => (settle(), reject(error)),
      signal,
      onProgress,
    });
    hold?.(true);
  }).catch((error) => {
    if (error instanceof Token2TextError) throw error;
    const what = `an argument of ${call.method} cannot be sent to the worker: ${messageOf(error)}`;
    throw new Token2TextError("invalid_options", what, { cause: error });
  });
}

/** @param {{ id: number, value?: unknown, progress?: unknown, error?: { code: import("./errors.js").ErrorCode, message: string } }} message */
function receive({ id, value, progress, error }) {
  const waiting = pending.get(id);
  if (!waiting) return;
  if (progress) return report(id, waiting, progress);
  // A trap or a bug: the instance may be damaged, so nobody is answered any more.
  if (error?.code === "internal") return end(error.message);
  pending.delete(id);
  if (pending.size === 0) thread?.hold?.(false);
  if (waiting.failure) waiting.reject(waiting.failure);
  else if (error) waiting.reject(new Token2TextError(error.code, error.message, { cause: waiting.signal?.reason }));
  else waiting.resolve(value);
}

/** A function that fails ends its call, which is rejected when the worker has given it up. @param {number} id @param {Pending} waiting @param {unknown} progress */
function report(id, waiting, progress) {
  try {
    waiting.onProgress?.(progress);
  } catch (error) {
    waiting.onProgress = undefined;
    waiting.failure = new Token2TextError("unreadable_source", `onProgress failed: ${messageOf(error)}`, { cause: error });
    post({ abort: id });
  }
}
