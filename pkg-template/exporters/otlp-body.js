/** What an exporter of OTLP is given, as the bytes of a request, and their encoding. */
import { asBody } from "./body.js";

/**
 * @typedef {object} Origin
 * @property {string} [contentType] Of a request: `application/x-protobuf` or `application/json`. Default: JSON if it begins with `{`.
 */

export const PROTOBUF = "application/x-protobuf";
export const JSON_TYPE = "application/json";

/**
 * @param {unknown} given Bytes or spans.
 * @param {Origin} [origin]
 * @returns {Promise<{ body: Uint8Array, contentType: string }>}
 * @throws {import("../errors.js").Token2TextError} As `asBody`.
 */
export async function otlpBody(given, { contentType } = {}) {
  const body = await asBody(given, "otlp-proto");
  if (contentType !== undefined) return { body, contentType: contentType.startsWith(JSON_TYPE) ? JSON_TYPE : PROTOBUF };
  // `{` would be a field of a type that there is no more.
  return { body, contentType: body[0] === 0x7b ? JSON_TYPE : PROTOBUF };
}
