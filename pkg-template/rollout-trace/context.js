/** Where a call stands: in which trace, inside of which call, with which attributes. It goes along with asynchronous work. */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

/**
 * @typedef {object} Trace
 * @property {string} id
 * @property {bigint} origin Nanoseconds from 1970 to the zero of `process.hrtime`, so that the times of a trace fit each other.
 * @property {Record<string, unknown>} tags Attributes of the trajectories in it; those that came last count.
 */
/**
 * @typedef {object} Context
 * @property {boolean} isOn False inside of a trajectory that is not traced.
 * @property {Readonly<Record<string, unknown>>} attributes Of the trajectory, by verl's names.
 * @property {Trace} [trace]
 * @property {string} [spanId] Of the call around what comes next.
 */

/** @type {AsyncLocalStorage<Context>} */
const storage = new AsyncLocalStorage();
/** @type {Context} */
const NOWHERE = { isOn: true, attributes: {} };

/** @returns {Context} */
export function here() {
  return storage.getStore() ?? NOWHERE;
}

/**
 * @template T
 * @param {Context} context
 * @param {() => T} fn
 * @returns {T}
 */
export function inside(context, fn) {
  return storage.run(context, fn);
}

/** @returns {Trace} */
export function newTrace() {
  const origin = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
  return { id: randomId(16), origin, tags: {} };
}

/** Hexadecimal digits. @param {number} bytes */
export function randomId(bytes) {
  return randomBytes(bytes).toString("hex");
}

/** Nanoseconds since 1970, in digits. @param {Trace} trace */
export function nowIn(trace) {
  return String(trace.origin + process.hrtime.bigint());
}
