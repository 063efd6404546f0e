/** The clients of the soak: send numbered spans at a pace, and send again what was not acknowledged, as exporters do. */
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { kinds, numbered } from "./spans.js";

const CONNECTIONS = 4;
const AGAIN_MILLIS = 100;

export class Load {
  /** Spans that were acknowledged. */
  acknowledged = 0;
  /** Requests that were sent again. */
  again = 0;
  #url;
  #spansPerSecond;
  #kinds = kinds();
  #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  /** The number of the next span. */
  next;
  #first;
  #turn = 0;
  #isOver = false;
  #running;

  /** @param {string} url @param {number} spansPerSecond @param {number} [first] The number of the first span. */
  constructor(url, spansPerSecond, first = 0) {
    this.#first = first;
    this.next = first;
    this.#url = new URL("/v1/traces", url);
    this.#spansPerSecond = spansPerSecond;
    const start = performance.now();
    this.#running = Promise.all(Array.from({ length: CONNECTIONS }, () => this.#client(start)));
  }

  /** Ends when all that was sent is acknowledged. */
  async finish() {
    this.#isOver = true;
    await this.#running;
    this.#agent.destroy();
  }

  /** @param {number} start */
  async #client(start) {
    while (!this.#isOver) {
      const early = ((this.next - this.#first) / this.#spansPerSecond) * 1000 - (performance.now() - start);
      if (early > 0) {
        await sleep(Math.min(early, 100));
        continue;
      }
      const kind = this.#kinds[this.#turn++ % this.#kinds.length];
      const body = numbered(kind, this.next);
      this.next += kind.count;
      while ((await this.#send(body)) !== 200) {
        this.again++;
        await sleep(AGAIN_MILLIS);
      }
      this.acknowledged += kind.count;
    }
  }

  /** @param {Buffer} body @returns {Promise<number | undefined>} Nothing: there was no answer. */
  #send(body) {
    return new Promise((resolve) => {
      const headers = { "content-type": "application/x-protobuf", "content-length": body.length };
      const outgoing = request(this.#url, { method: "POST", agent: this.#agent, headers }, (incoming) => {
        incoming.resume().on("end", () => resolve(incoming.statusCode)).on("error", () => resolve(undefined));
      });
      outgoing.on("error", () => resolve(undefined)).end(body);
    });
  }
}
