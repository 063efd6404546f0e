/** The bodies of a store in their order, in runs that are sent as one request each. */
import { PROTOBUF } from "../receive/answers.js";
import { MOST_BYTES } from "../receive/gathering.js";

/** @typedef {import("../types.js").StoredBody} StoredBody */

export class Runs {
  #read;
  #isJoined;
  #position;
  #mostBytes;
  /** Read, and not given out yet. @type {StoredBody[]} */
  #waiting = [];

  /**
   * @param {(position: number, bytes: number) => Promise<StoredBody[]>} read What is stored after a position.
   * @param {object} how
   * @param {number} how.position What was given out before.
   * @param {boolean} how.isJoined Whether several requests may be one.
   * @param {number} how.bodyBytes The largest body that can be decoded.
   */
  constructor(read, { position, isJoined, bodyBytes }) {
    this.#read = read;
    this.#position = position;
    this.#isJoined = isJoined;
    this.#mostBytes = Math.min(MOST_BYTES, bodyBytes);
  }

  /** Those that come next; none if there are no more. @returns {Promise<StoredBody[]>} */
  async next() {
    if (this.#waiting.length === 0) this.#waiting = await this.#read(this.#position, this.#mostBytes);
    const run = this.#waiting.splice(0, this.#length());
    this.#position = run.at(-1)?.id ?? this.#position;
    return run;
  }

  /** Requests in protocol buffers, one after the other, are one request; those in JSON are not. */
  #length() {
    if (!this.#isJoined || this.#waiting[0]?.contentType !== PROTOBUF) return 1;
    let bytes = 0;
    const end = this.#waiting.findIndex(({ contentType, body }) => contentType !== PROTOBUF || (bytes += body.length) > this.#mostBytes);
    return end === -1 ? this.#waiting.length : Math.max(1, end);
  }
}

/** @param {StoredBody[]} run @returns {import("../receive/exports.js").Body} */
export function requestOf(run) {
  const [{ body, contentType }] = run;
  return { body: run.length === 1 ? body : Buffer.concat(run.map((stored) => stored.body)), contentType };
}
