/**
 * Small bodies, enriched where they arrive: to wake a thread and come back takes several times as long as they do. Only where tokenizers
 * decode by table is that time bounded; and once something has failed here, or taken too much memory, the threads have to.
 */
import { memoryBytes } from "token2text";
import { createBodies, withBody } from "./bodies.js";

/** Some 0.2 ms, about what a thread costs; longer bodies would hold up other requests. */
const SMALL_BYTES = 8 << 10;

export class Nearby {
  #how;
  #log;
  /** @type {import("./bodies.js").Bodies | undefined} */
  #bodies;
  #isOver = false;

  /** @param {Omit<import("./bodies.js").How, "tokenizers">} how @param {import("pino").Logger} log */
  constructor(how, log) {
    this.#how = how;
    this.#log = log;
  }

  /** Takes these tokenizers from now on. @param {import("./tokenizers.js").Packed[]} tokenizers */
  async load(tokenizers) {
    if (this.#isOver) return;
    const bodies = await createBodies({ ...this.#how, tokenizers });
    this.close();
    if (bodies.areTables) this.#bodies = bodies;
    else bodies.free();
  }

  /**
   * @param {import("../types.js").EnrichmentRequest} request
   * @returns {import("../types.js").Enrichment | undefined} Nothing: a thread has to.
   */
  enrich(request) {
    if (!this.#bodies || request.body.byteLength > SMALL_BYTES) return undefined;
    const answer = this.#bodies.enrich(request);
    const isLost = answer.outcome === "undecoded" && answer.reason === "worker_lost";
    if (isLost || memoryBytes() > this.#how.limits.workerBytes) {
      // An instance that failed may be broken: nothing of it is called again, not even to give back memory.
      this.#bodies = undefined;
      this.#isOver = true;
      this.#log.warn({ failed: isLost, bytes: memoryBytes() }, "small bodies are enriched by the workers from now on");
    }
    return isLost ? undefined : withBody(answer, request.body);
  }

  close() {
    this.#bodies?.free();
    this.#bodies = undefined;
  }
}
