/** What becomes of one body: the same in threads and beside the listeners. */
import { Enricher, Token2TextError, Tokenizer } from "token2text";
import { undecoded } from "./outcome.js";
import { Sampling } from "./sampling/sampling.js";

/** @typedef {import("../types.js").Enrichment} Enrichment */
/** What is sent to a thread of a request. @typedef {Omit<import("../types.js").EnrichmentRequest, "signal">} Body */
/**
 * @typedef {object} How
 * @property {import("./tokenizers.js").Packed[]} tokenizers
 * @property {import("../types.js").Configuration["enrichment"]} enrichment
 * @property {import("../types.js").Configuration["limits"]} limits
 * @property {number} sample
 * @property {SharedArrayBuffer} knownTraces What sampling remembers.
 */
/**
 * @typedef {object} Bodies
 * @property {(body: Body) => Enrichment} enrich
 * @property {boolean} areTables Whether all tokenizers decode by table: in a time that the number of ids bounds.
 * @property {() => void} free
 */

/** In place of a body that is as it was. */
const NOTHING = new Uint8Array();

/** @param {How} how @returns {Promise<Bodies>} */
export async function createBodies({ tokenizers, enrichment, limits, sample, knownTraces }) {
  const sampling = new Sampling(sample, knownTraces);
  /** One for all patterns of a file. @type {Map<SharedArrayBuffer, Tokenizer>} */
  const loaded = new Map();
  const byPattern = tokenizers.map(({ pattern, bytes }) => {
    const tokenizer = loaded.get(bytes) ?? Tokenizer.fromBytes(new Uint8Array(bytes));
    loaded.set(bytes, tokenizer);
    return [pattern, tokenizer];
  });
  const enricher = await Enricher.create(Object.fromEntries(byPattern), { ...enrichment, limits: { bodyBytes: limits.bodyBytes } });

  /** @param {Body} body @returns {Enrichment} */
  function enrich({ body, contentType, url, sampling: how }) {
    try {
      /** @type {import("./sampling/sampling.js").Sampled} */
      const sampled = how && sample < 1 ? sampling.sample(body, contentType, how) : { body, leftOut: 0, isNothing: false };
      if (sampled.isNothing) return { ...undecoded("not_sampled", "no sample of it is in"), leftOut: sampled.leftOut };
      const { body: enriched, report } = enricher.enrichBody(sampled.body, { contentType, url });
      sampled.show?.(Buffer.from(enriched.buffer, enriched.byteOffset, enriched.byteLength));
      const { format } = report;
      const totals = { ...report.totals, spansWithoutIds: report.totals.spansWithoutIds - (sampled.standIns ?? 0) };
      const warnings = report.warnings.map(({ code, message }) => ({ code, message }));
      const isSame = enriched.length === body.length && Buffer.compare(enriched, body) === 0;
      const outcome = isSame ? "unchanged" : "enriched";
      return { outcome, body: isSame ? NOTHING : enriched, format, totals, warnings, leftOut: sampled.leftOut };
    } catch (error) {
      // The message may have parts of the body.
      const code = error instanceof Token2TextError ? error.code : error instanceof Error ? error.name : "thrown";
      return code === "internal" ? undecoded("worker_lost", "token2text failed") : undecoded("error", code);
    }
  }

  const free = () => {
    enricher.free();
    loaded.forEach((tokenizer) => tokenizer.free());
  };
  return { enrich, free, areTables: [...loaded.values()].every(({ info }) => info.engine === "table") };
}

/** A body that has not changed does not come back. @param {Enrichment} answer @param {Uint8Array} body @returns {Enrichment} */
export function withBody(answer, body) {
  return answer.outcome === "unchanged" ? { ...answer, body } : answer;
}
