/**
 * Which samples are in: a share of them, chosen by a digest, so that all processes choose the same ones.
 *
 * The digest is SHA-256 of the UTF-8 of a JSON text: `["sample",EXPERIMENT_NAME,STEP,VALIDATE,SAMPLE_INDEX]` (null for what is not
 * known), or `["trace",TRACE_ID]`. Its first 48 bits, as a fraction of 2^48, are below the share of those that are in. So a larger
 * share has the samples of a smaller one and others. This does not change from version to version.
 */
import { createHash } from "node:crypto";

/**
 * Which sample of which step a span is of: all rollouts of a sample have the same.
 *
 * @typedef {object} Sample
 * @property {string} [experimentName]
 * @property {number} [step]
 * @property {boolean} [validate]
 * @property {number} sampleIndex
 */

const BITS = 48;

/** @param {Sample} sample */
export function sampleKey({ experimentName, step, validate, sampleIndex }) {
  return JSON.stringify(["sample", experimentName ?? null, step ?? null, validate ?? null, sampleIndex]);
}

/** @param {string} traceId */
export function traceKey(traceId) {
  return JSON.stringify(["trace", traceId]);
}

/**
 * @param {number} share Above 0, at most 1.
 * @returns {(key: string) => boolean} Whether what has this key is in.
 */
export function createSampler(share) {
  const bound = share * 2 ** BITS;
  return (key) => createHash("sha256").update(key).digest().readUIntBE(0, BITS / 8) < bound;
}
