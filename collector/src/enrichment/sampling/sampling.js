/**
 * What sampling makes of a body, in the thread that enriches it: its pieces (spans, calls, entries) are in or out, each by its sample.
 *
 * A piece that does not tell its sample goes with one of its trace that did, in any body; the second half of a Weave call goes with the
 * first. Where nothing is known the id of the trace decides, and where there is none the piece is in. What was decided of a trace stays, for
 * as long as it is remembered, so that it has its texts everywhere or nowhere. MLflow's OTLP spans tell nothing: their trace info does, if
 * it comes before them. What cannot be cut into pieces is in whole, and a piece of several samples is in if one of them is.
 */
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
    /** @type {Map<string, boolean>} */
    const byKey = new Map();
    const isIn = (/** @type {string} */ key) => remembered(byKey, key, this.#isIn);
    const isAnyIn = (/** @type {import("./sampler.js").Sample[]} */ samples) => samples.some((sample) => isIn(sampleKey(sample)));
    /** @type {Map<string, boolean>} */
    const byId = new Map();
    // One span of a trace may tell the sample of all, in this body and in later ones.
    for (const { traceId, samples } of pieces) {
      if (traceId !== undefined && samples.length > 0) byId.set(traceId, this.#known.get(traceId) ?? isAnyIn(samples));
    }
    const answers = pieces.map(({ traceId, id, samples, isStart }) => {
      const name = traceId ?? id;
      // What says nothing of itself at all is in.
      const byName = () => name === undefined || remembered(byId, name, () => this.#known.get(name) ?? isIn(traceKey(name)));
      const answer = samples.length > 0 ? isAnyIn(samples) : byName();
      if (isStart && id !== undefined) this.#known.set(id, answer);
      return answer;
    });
    for (const [name, answer] of byId) this.#known.set(name, answer);
    return answers;
  }
}

/** @param {Map<string, boolean>} answers @param {string} key @param {(key: string) => boolean} ask */
function remembered(answers, key, ask) {
  const answer = answers.get(key) ?? ask(key);
  answers.set(key, answer);
  return answer;
}
