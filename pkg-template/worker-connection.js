/** The line to the worker: calls go out, answers come back; a worker that ends is replaced at the next call. */
import { Token2TextError, messageOf } from "./errors.js";
import { asBytes, isKind } from "./source.js";

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
/** @typedef {{ resolve: (value: any) => void, reject: (error: unknown) => void, onProgress?: (progress: any) => void }} Pending */

/**
 * What differs between Node and browsers.
 *
 * @typedef {object} Platform
 * @property {Spawn} spawn
 * @property {(address: string | URL) => string} resolve An address as it is understood in the worker, which stands elsewhere.
 */

/** That of Node's Buffer gives a view. */
const typedArraySlice = Object.getPrototypeOf(Uint8Array.prototype).slice;

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
let generation = 0;
let lastId = 0;
/** @type {Map<number, Pending>} */
const pending = new Map();
/** Buffers that are moved instead of copied. @type {WeakSet<ArrayBufferLike>} */
const moved = new WeakSet();

/** @param {Platform} value */
export function setPlatform(value) {
  platform = value;
}

/** Addresses made absolute, anything else as it is. @template T @param {T} value */
export function absolute(value) {
  const isAddress = typeof value === "string" || isKind(value, "URL");
  return isAddress ? platform.resolve(/** @type {string} */ (value)) : value;
}

/** @param {typeof setup} value */
export function configure(value) {
  if (!thread) setup = value;
}

/**
 * Marks bytes or ids so that the next call moves them into the worker instead of copying them. They are empty afterwards.
 * A part of a larger buffer is copied all the same.
 *
 * @template {ArrayBufferView | ArrayBuffer} T
 * @param {T} value
 * @returns {T}
 */
export function transfer(value) {
  const buffer = /** @type {ArrayBufferLike} */ (ArrayBuffer.isView(value) ? value.buffer : value);
  if (!isKind(buffer, "ArrayBuffer")) {
    throw new Token2TextError("invalid_options", "transfer takes bytes or ids with a buffer of their own: a typed array or an ArrayBuffer");
  }
  moved.add(buffer);
  return value;
}

/** Starts the worker unless it runs. @returns {Promise<void>} */
export function start() {
  const mine = generation;
  ready ??= Promise.resolve().then(() => startNow(mine));
  return ready;
}

/** @param {number} mine */
async function startNow(mine) {
  if (mine !== generation) throw new Token2TextError("instance_lost", "the worker was ended before it was started");
  try {
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
    throw new Token2TextError("unreadable_source", `the worker cannot be started: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Ends the worker. Calls that wait are rejected with `instance_lost`; the next call starts another worker, in which
 * tokenizers and enrichers are made again when they are used.
 *
 * @param {string} reason
 */
export function end(reason) {
  const error = hasStarted
    ? new Token2TextError("instance_lost", `the worker ended before this call was done (${reason}); the next call starts another`)
    : new Token2TextError("unreadable_source", `the worker cannot be started: ${reason}`);
  const lost = [...pending.values()];
  thread?.end();
  pending.clear();
  thread = ready = undefined;
  hasStarted = false;
  generation++;
  for (const { reject } of lost) reject(error);
}

/** Calls a function of the worker. @param {Call} call @returns {Promise<any>} */
export async function call(call) {
  await start();
  return send(call);
}

/** @param {Call} call @returns {Promise<any>} */
function send({ signal, onProgress, ...call }) {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    if (!thread) throw new Token2TextError("instance_lost", "the worker was ended before this call was sent");
    const { post, hold } = thread;
    const abort = () => post({ abort: id }, []);
    const args = call.args.map(alone);
    post({ ...call, args, id, reports: onProgress !== undefined, isAborted: signal?.aborted }, args.flatMap(movedBuffer));
    signal?.addEventListener("abort", abort);
    const settle = () => signal?.removeEventListener("abort", abort);
    pending.set(id, {
      resolve: (value) => (settle(), resolve(value)),
      reject: (error) => (settle(), reject(error)),
      onProgress,
    });
    hold?.(true);
  }).catch((error) => {
    if (error instanceof Token2TextError) throw error;
    const what = `an argument of ${call.method} cannot be sent to the worker: ${messageOf(error)}`;
    throw new Token2TextError("invalid_options", what, { cause: error });
  });
}

/** Bytes or ids without the rest of their buffer, which would be copied or moved with them. @param {unknown} value @returns {unknown} */
function alone(value) {
  if (Array.isArray(value) && value.some(ArrayBuffer.isView)) return value.map(alone);
  if (!ArrayBuffer.isView(value) || value.byteLength === value.buffer.byteLength) return value;
  return value instanceof DataView ? alone(asBytes(value)) : typedArraySlice.call(value);
}

/** @param {unknown} value @returns {Transferable[]} */
function movedBuffer(value) {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  return moved.delete(/** @type {ArrayBuffer} */ (buffer)) ? [/** @type {ArrayBuffer} */ (buffer)] : [];
}

/** @param {{ id: number, value?: unknown, progress?: unknown, error?: { code: string, message: string } }} message */
function receive({ id, value, progress, error }) {
  const waiting = pending.get(id);
  if (!waiting) return;
  if (progress) return report(id, waiting, progress);
  // A trap or a bug: the instance may be damaged, so nobody is answered any more.
  if (error?.code === "internal") return end(error.message);
  pending.delete(id);
  if (pending.size === 0) thread?.hold?.(false);
  if (error) waiting.reject(new Token2TextError(error.code, error.message));
  else waiting.resolve(value);
}

/** @param {number} id @param {Pending} waiting @param {unknown} progress */
function report(id, waiting, progress) {
  try {
    waiting.onProgress?.(progress);
  } catch (error) {
    pending.delete(id);
    thread?.post({ abort: id }, []);
    waiting.reject(new Token2TextError("unreadable_source", `onProgress failed: ${messageOf(error)}`, { cause: error }));
  }
}

/** Frees objects in the worker that nobody refers to here. @type {FinalizationRegistry<Remote>} */
const forgotten = new FinalizationRegistry((remote) => remote.free());

/** An object that lives in the worker, and is made again in the next one. */
export class Remote {
  #handle = ++lastId;
  #make;
  #generation = -1;
  /** @type {Promise<unknown> | undefined} */
  #made;
  /** Whether its owner has given it up; others may still need it to make something of it. */
  isFreed = false;

  /** @param {(handle: number) => Promise<unknown>} make Makes the object in the running worker under a handle. */
  constructor(make) {
    this.#make = make;
  }

  /** @param {object} owner When it is gone, so is this. */
  belongTo(owner) {
    forgotten.register(owner, this);
  }

  /**
   * The handle of the object, which exists then.
   *
   * @param {(handle: number) => Promise<unknown>} [make] Makes it in place of the usual way.
   * @returns {Promise<number>}
   */
  async handle(make = this.#make) {
    await start();
    if (this.#generation !== generation) {
      this.#generation = generation;
      this.#made = make(this.#handle);
    }
    const made = this.#made;
    try {
      await made;
    } catch (error) {
      if (made === this.#made) this.#generation = -1;
      throw error;
    }
    return this.#handle;
  }

  /** @param {string} method @param {unknown[]} args */
  async call(method, args) {
    return send({ method, args, target: await this.handle() });
  }

  free() {
    this.isFreed = true;
    if (this.#generation === generation) thread?.post({ free: this.#handle }, []);
    this.#generation = -1;
  }
}
