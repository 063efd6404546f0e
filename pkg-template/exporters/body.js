/** What an exporter is given, as the bytes of a body: they are bytes already, or spans. */
import { started } from "../engines.js";
import { Token2TextError, describe } from "../errors.js";
import { asBytes } from "../source.js";
import { write } from "../write.js";

/** @typedef {readonly import("../write.js").SpanInput[]} Spans */
/** @typedef {"otlp-proto" | "trackio"} BodyFormat */

/** @type {Record<BodyFormat, string>} */
const NAMES = { "otlp-proto": "an OTLP request", trackio: "a bulk_log body" };

/**
 * @param {unknown} given
 * @param {BodyFormat} format
 * @param {import("../write.js").WriteOptions} [options] For spans.
 * @returns {Promise<Uint8Array>}
 * @throws {Token2TextError} `invalid_body`, `compressed_input`, `invalid_options`; of spans also `not_initialised`.
 */
export async function asBody(given, format, options) {
  return Array.isArray(given) ? written(given, format, options) : givenBytes(given, NAMES[format]);
}

/**
 * What is given beside spans.
 *
 * @param {unknown} given
 * @param {string} name What it should be.
 * @throws {Token2TextError} `invalid_body`, `compressed_input`.
 */
export function givenBytes(given, name) {
  const bytes = asBytes(given);
  if (!bytes) throw new Token2TextError("invalid_body", `export takes the bytes of ${name} or spans, not ${describe(given)}`);
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw new Token2TextError("compressed_input", "the body is gzip; decompress it first");
  return bytes;
}

/** @param {Spans} spans @param {BodyFormat} format @param {import("../write.js").WriteOptions} [options] */
async function written(spans, format, options) {
  await started();
  return write(spans, format, options);
}
