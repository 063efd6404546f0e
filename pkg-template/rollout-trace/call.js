/** One call that is recorded, from its beginning to its end, whichever way it ends. */
import { types } from "node:util";
import { inside, nowIn } from "./context.js";
import { MAX_VALUE_BYTES, isPlainObject, nameOf, snapshot, wordsOf } from "./snapshot.js";

/** @typedef {import("./context.js").Context} Context */
/** @typedef {import("./context.js").Trace} Trace */
/**
 * What is known of a call. `inputs` and `output` are snapshots, absent where there is none.
 *
 * @typedef {object} Record
 * @property {string} name
 * @property {Trace} trace
 * @property {string} spanId
 * @property {string} [parentId]
 * @property {Readonly<globalThis.Record<string, unknown>>} attributes Of the trajectory around it.
 * @property {boolean} isTrajectory Whether it is the span of a trajectory itself.
 * @property {unknown} [inputs]
 * @property {unknown} [output]
 * @property {Thrown} [thrown]
 * @property {string} start Nanoseconds since 1970, in digits.
 * @property {string} end
 * @property {number} bytes About what it holds.
 */
/** @typedef {{ type: string, message: string, stack: string }} Thrown */
/**
 * Who is told of a call.
 *
 * @typedef {object} Listener
 * @property {(call: Call, bytes: number) => void} grew It holds so much more.
 * @property {(call: Call, record: Record) => void} ended
 */

/** What a record holds besides its values. */
const BYTES_OF_RECORD = 512;
/** What something that was yielded holds besides its value. */
const BYTES_OF_YIELDED = 16;

export class Call {
  #context;
  #listener;
  /** Undefined once it has ended or was given up, and of a call that only has a context. @type {Record | undefined} */
  #record;
  /** What a generator has given. @type {unknown[]} */
  #yielded = [];
  #yieldedBytes = 0;

  /**
   * @param {Context} context For what is called.
   * @param {Omit<Record, "start" | "end">} [record]
   * @param {Listener} [listener]
   */
  constructor(context, record, listener) {
    this.#context = context;
    this.#listener = listener;
    if (record) this.#record = { ...record, start: nowIn(record.trace), end: "", bytes: record.bytes + BYTES_OF_RECORD };
  }

  get bytes() {
    return this.#record?.bytes ?? 0;
  }

  /**
   * Makes the call and waits for its end, without being in its way.
   *
   * @param {() => any} fn
   * @returns {any} The result; of a promise another one with the same outcome, of a generator another one that gives the same.
   */
  make(fn) {
    let result;
    try {
      result = this.run(fn);
    } catch (error) {
      return this.#thrown(error);
    }
    return isNativePromise(result) ? follow(result, (value) => this.#returned(value), (error) => this.#thrown(error)) : this.#returned(result);
  }

  /**
   * Runs a part of what is called.
   *
   * @template T
   * @param {() => T} fn
   * @returns {T}
   */
  run(fn) {
    return inside(this.#context, fn);
  }

  /** @param {any} value */
  #returned(value) {
    if (isIterator(value)) return followed(value, this);
    this.succeeded(value);
    return value;
  }

  /** @param {unknown} error @returns {never} */
  #thrown(error) {
    this.failed(error);
    throw error;
  }

  /** @param {unknown} value */
  succeeded(value) {
    const output = this.#isKept ? snapshot(value) : { value: undefined, bytes: 0 };
    this.#end({ output: output.value ?? null }, output.bytes);
  }

  /** Keeps what a generator gives, as long as that is not too much. @param {unknown} value */
  yielded(value) {
    if (!this.#isKept || this.#yieldedBytes > MAX_VALUE_BYTES) return;
    const { value: copy, bytes } = snapshot(value, MAX_VALUE_BYTES - this.#yieldedBytes);
    this.#yielded.push(copy);
    const grown = bytes + BYTES_OF_YIELDED;
    this.#yieldedBytes += grown;
    this.#listener?.grew(this, grown);
  }

  /** The end of a generator. @param {unknown} value What it returns. */
  exhausted(value) {
    const returned = this.#isKept && value !== undefined ? snapshot(value) : { value: undefined, bytes: 0 };
    const output = { yielded: this.#yielded, returned: returned.value };
    this.#end({ output }, this.#yieldedBytes + returned.bytes);
  }

  /** The span of a trajectory has no output in verl. */
  get #isKept() {
    return this.#record !== undefined && !this.#record.isTrajectory;
  }

  /** @param {unknown} error */
  failed(error) {
    const thrown = { type: nameOf(error), message: wordsOf(error), stack: stackOf(error) };
    this.#end({ thrown }, thrown.message.length + thrown.stack.length);
  }

  /** Forgets what was recorded. */
  giveUp() {
    this.#record = undefined;
    this.#yielded = [];
  }

  /** @param {Partial<Record>} outcome @param {number} bytes */
  #end(outcome, bytes) {
    const record = this.#record;
    if (!record) return;
    this.#record = undefined;
    this.#listener?.ended(this, { ...record, ...outcome, end: nowIn(record.trace), bytes: record.bytes + bytes });
  }
}

/** @param {unknown} error */
function stackOf(error) {
  try {
    return error instanceof Error ? wordsOf(error.stack) : "";
  } catch {
    return "";
  }
}

/**
 * What comes of a promise, whatever was done to its `then`.
 *
 * @param {Promise<any>} promise
 * @param {(value: any) => any} fulfilled
 * @param {(error: unknown) => any} rejected
 */
function follow(promise, fulfilled, rejected) {
  return Promise.prototype.then.call(promise, fulfilled, rejected);
}

/** Of a subclass `then` may do what it likes, such as send a request. @param {unknown} value @returns {value is Promise<unknown>} */
function isNativePromise(value) {
  return types.isPromise(value) && Object.getPrototypeOf(value) === Promise.prototype && !Object.hasOwn(value, "then");
}

/** A generator, or an iterator of no class. What has a class, as a stream, has more ways to be read. @param {unknown} value */
function isIterator(value) {
  if (types.isGeneratorObject(value)) return true;
  if (!isPlainObject(value) || !(Symbol.asyncIterator in value || Symbol.iterator in value)) return false;
  return typeof Object.getOwnPropertyDescriptor(value, "next")?.value === "function";
}

/**
 * An iterator that gives what another one gives, and tells the call.
 *
 * @param {any} iterator
 * @param {Call} call
 */
function followed(iterator, call) {
  /** @param {any} step */
  function take(step) {
    if (step?.done) call.exhausted(step.value);
    else call.yielded(step?.value);
    return step;
  }
  /** @param {unknown} error */
  function fail(error) {
    call.failed(error);
    throw error;
  }

  /** @param {string} name */
  const method = (name) => (/** @type {unknown[]} */ ...args) => {
    let step;
    try {
      step = call.run(() => iterator[name](...args));
    } catch (error) {
      return fail(error);
    }
    return isNativePromise(step) ? follow(step, take, fail) : take(step);
  };

  const other = Object.create(iterator);
  /** @param {PropertyKey} name @param {unknown} value */
  const replace = (name, value) => name in iterator && Object.defineProperty(other, name, { value, writable: true, configurable: true });
  for (const name of ["next", "return", "throw"]) replace(name, method(name));
  for (const name of [Symbol.iterator, Symbol.asyncIterator]) replace(name, () => other);
  return other;
}
