/** What sampling decides about, one by one: the spans, calls and entries of a body. */
import { jsonBody } from "./json-pieces.js";
import { protoBody } from "./proto-pieces.js";

/**
 * @typedef {object} Piece
 * @property {string} [traceId] Of spans in hexadecimal.
 * @property {string} [id]
 * @property {import("./sampler.js").Sample[]} samples Mostly one, or none if it does not tell.
 * @property {boolean} [isStart] Whether it is the first half of a Weave call, whose other half tells nothing but its id.
 */
/**
 * A body as pieces.
 *
 * @typedef {object} CutBody
 * @property {Piece[]} pieces In order.
 * @property {(isKept: (index: number) => boolean) => Buffer} select The body with these pieces alone, each with every byte.
 * @property {(isKept: (index: number) => boolean) => Hidden | undefined} hide Makes the others such as enriching passes over;
 *   undefined if that cannot be done.
 */
/**
 * A body in which some pieces cannot be enriched. `show` puts them back to where they were, in what was made of the body; `standIns` is how
 * many spans without ids stood for them.
 *
 * @typedef {{ body: Buffer, standIns: number, show: (enriched: Buffer) => void }} Hidden
 */

/**
 * @param {Uint8Array} body
 * @param {string} [contentType]
 * @returns {CutBody | undefined} Undefined if it is nothing that has such pieces.
 */
export function cutBody(body, contentType = "") {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  try {
    return isJson(bytes, contentType) ? jsonBody(bytes) : protoBody(bytes);
  } catch {
    // Broken: enriching says why.
    return undefined;
  }
}

/** @param {Buffer} body @param {string} contentType */
function isJson(body, contentType) {
  if (/protobuf/i.test(contentType)) return false;
  return /json/i.test(contentType) || /^\s*[[{]/.test(body.toString("latin1", 0, 100));
}
