/** Bodies that are held until they are whole, and how many bytes that may be. */

/** @typedef {import("../types.js").Configuration} Configuration */
/** @typedef {import("../types.js").Context} Context */

/** The bytes that are held now, for each collector. @type {WeakMap<Configuration, { bytes: number }>} */
const totals = new WeakMap();

/** What one body takes of the bytes that all may have together. */
export class Allowance {
  #total;
  #metrics;
  #limits;
  #taken = 0;

  /** @param {Context} context */
  constructor({ configuration, metrics }) {
    let total = totals.get(configuration);
    if (!total) totals.set(configuration, (total = { bytes: 0 }));
    this.#total = total;
    this.#metrics = metrics;
    this.#limits = configuration.limits;
  }

  /**
   * Takes bytes if they are there.
   *
   * @param {number} bytes
   * @returns {"too_large" | "overloaded" | undefined} Why not.
   */
  take(bytes) {
    const reason = this.refusalOf(bytes);
    if (!reason) this.#add(bytes);
    return reason;
  }

  /** Why so many bytes cannot be taken. @param {number} bytes @returns {"too_large" | "overloaded" | undefined} */
  refusalOf(bytes) {
    if (this.#taken + bytes > this.#limits.bodyBytes) return "too_large";
    return this.#total.bytes + bytes > this.#limits.heldBytes ? "overloaded" : undefined;
  }

  /** Gives all back. */
  release() {
    this.#add(-this.#taken);
  }

  /** @param {number} bytes */
  #add(bytes) {
    this.#taken += bytes;
    this.#total.bytes += bytes;
    this.#metrics.held(bytes);
  }
}

/**
 * Reads a body until it is whole or has no more room; what is left then is still in the stream, which is paused.
 *
 * @param {import("node:http").IncomingMessage} stream
 * @param {Allowance} allowance
 * @param {number} [length] That it says it has.
 * @returns {Promise<{ chunks: Buffer[], reason?: "too_large" | "overloaded" }>} With a reason if it is not whole.
 * @throws {Error} What ended the stream before its end.
 */
export async function hold(stream, allowance, length = 0) {
  const refusal = allowance.refusalOf(length);
  if (refusal) return { chunks: [], reason: refusal };
  /** @type {Buffer[]} */
  const chunks = [];
  return new Promise((resolve, reject) => {
    /** @param {"too_large" | "overloaded"} [reason] */
    const done = (reason) => {
      stream.off("data", onData).off("end", onEnd).off("error", reject).off("close", onClose);
      resolve(reason ? { chunks, reason } : { chunks });
    };
    const onEnd = () => done();
    const onClose = () => reject(new Error("the body was cut"));
    const onData = (/** @type {Buffer} */ chunk) => {
      chunks.push(chunk);
      const reason = allowance.take(chunk.length);
      if (!reason) return;
      stream.pause();
      done(reason);
    };
    stream.on("data", onData).on("end", onEnd).on("error", reject).on("close", onClose);
  });
}
