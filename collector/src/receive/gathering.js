/**
 * Small requests that arrive while others are under way go on together: a request to a thread and to a backend costs more than a
 * few spans do. Nothing waits for company, so that a single request is as fast as ever. Requests in protocol buffers one
 * after the other are one request, since all that they hold is repeated.
 */

const SMALL_BYTES = 32 << 10;
export const MOST_BYTES = 1 << 20;
/** How many of these may be under way: one is enriched while another is exported. */
const MOST_UNDER_WAY = 2;

/** @template Result @typedef {{ body: Buffer, resolve: (result: Result) => void, reject: (error: unknown) => void }} Waiting */

/** @template Result */
export class Gathering {
  #pass;
  #passTogether;
  #underWay = 0;
  /** @type {Waiting<Result>[]} */
  #waiting = [];

  /**
   * @param {(body: Buffer) => Promise<Result>} pass What is to be done with a body.
   * @param {(body: Buffer) => Promise<Result | undefined>} passTogether Likewise with several; without a result, or with an error, each
   *   is passed on alone.
   */
  constructor(pass, passTogether) {
    this.#pass = pass;
    this.#passTogether = passTogether;
  }

  /** @param {Buffer} body In protocol buffers. @returns {Promise<Result>} */
  pass(body) {
    if (body.length > SMALL_BYTES) return this.#pass(body);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject });
      this.#next();
    });
  }

  async #next() {
    if (this.#underWay === MOST_UNDER_WAY || this.#waiting.length === 0) return;
    this.#underWay++;
    const taken = this.#take();
    const result = taken.length > 1 ? await this.#passTogether(Buffer.concat(taken.map(({ body }) => body))).catch(() => undefined) : undefined;
    for (const { body, resolve, reject } of taken) {
      if (result) resolve(result);
      else await this.#pass(body).then(resolve, reject);
    }
    this.#underWay--;
    this.#next();
  }

  #take() {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ body }) => (bytes += body.length) > MOST_BYTES);
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }
}
