/** What sampling makes of a body, in the thread that enriches it. */
import { KnownTraces } from "./known-traces.js";
import { cutBody } from "./pieces.js";
import { createSampler, sampleKey, traceKey } from "./sampler.js";

/**
 * What is to be enriched of a body. `leftOut`: how many pieces are not in it; `isNothing`: all of them.
 *
 * @typedef {{ body: Uint8Array, leftOut: number, isNothing: boolean, standIns?: number, show?: (enriched: Buffer) => void }} Sampled
 */

export class Sampling {
  #isIn;
  #known;

  /** @param {number} share Above 0, at most 1. @param {SharedArrayBuffer} table Of known traces, for all threads. */
  constructor(share, table) {
    this.#isIn = createSampler(share);
    this.#known = new KnownTraces(table);
  }

  /**
   * @param {Uint8Array} body
   * @param {string | undefined} contentType
   * @param {"decode" | "select"} how Whether the others come back as they are, or are left out.
   * @returns {Sampled}
   */
  sample(body, contentType, how) {
    const cut = cutBody(body, contentType);
    const isIn = this.#decide(cut?.pieces ?? []);
    const leftOut = isIn.filter((piece) => !piece).length;
    const isNothing = leftOut > 0 && leftOut === isIn.length;
    if (!cut || leftOut === 0 || isNothing) return { body, leftOut, isNothing };
    const isKept = (/** @type {number} */ index) => isIn[index];
    if (how === "select") return { body: cut.select(isKept), leftOut, isNothing };
    const hidden = cut.hide(isKept);
    return hidden ? { ...hidden, leftOut, isNothing } : { body, leftOut: 0, isNothing };
  }

  /** Whether each is in. @param {import("./pieces.js").Piece[]} pieces */
  #decide(pieces) {
    // One span of a trace may tell the sample of all, in this body and in later ones.
    for (const { traceId, samples } of pieces) {
      if (traceId !== undefined && samples.length > 0) this.#known.set(traceId, this.#isAnyIn(samples));
    }
    return pieces.map(({ traceId, id, samples, isStart }) => {
      const isIn = samples.length > 0 ? this.#isAnyIn(samples) : this.#isKnownIn(traceId ?? id);
      if (isStart && id !== undefined) this.#known.set(id, isIn);
      return isIn;
    });
  }

  /** @param {import("./sampler.js").Sample[]} samples */
  #isAnyIn(samples) {
    return samples.some((sample) => this.#isIn(sampleKey(sample)));
  }

  /** What says nothing of itself at all is in. @param {string | undefined} id */
  #isKnownIn(id) {
    return id === undefined || (this.#known.get(id) ?? this.#isIn(traceKey(id)));
  }
}
