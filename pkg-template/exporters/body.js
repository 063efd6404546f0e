/** What an exporter is given, as bytes. */
import { Token2TextError, describe } from "../errors.js";
import { asBytes } from "../source.js";

/**
 * @param {unknown} body A request of OTLP as protocol buffers.
 * @returns {Uint8Array}
 * @throws {Token2TextError} `invalid_body`.
 */
export function asBody(body) {
  const bytes = asBytes(body);
  if (!bytes) throw new Token2TextError("invalid_body", `export takes the bytes of an OTLP request, not ${describe(body)}`);
  // `{` would be a field of a type that there is no more.
  if (bytes[0] === 0x7b) throw new Token2TextError("invalid_body", "export takes OTLP as protocol buffers, not as JSON");
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) throw new Token2TextError("compressed_input", "the body is gzip; decompress it first");
  return bytes;
}
