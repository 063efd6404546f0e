/** Bodies that are larger than the server takes: compressed, and if that is not enough, cut between spans. */
import { promisify } from "node:util";
import { gzip as gzipWithCallback } from "node:zlib";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { PROTOBUF } from "../receive/answers.js";
import { Refusal } from "../receive/refusal.js";
import { countSpans } from "../receive/span-count.js";

/** @typedef {import("../receive/exports.js").Body} Body */
/** What one message holds of a body. @typedef {Body & { data: Uint8Array, encoding?: "gzip" }} Fitted */

const gzip = promisify(gzipWithCallback);
/** As on the way to backends: a few percent of size count less than the time. */
const FAST = { level: 3 };
/** Numbers of the repeated fields on the way to a span: `resourceSpans`, `scopeSpans`, `spans`. */
const PATH = [1, 2, 2];

/**
 * A body in as few messages as it needs. Every span is in one of them, byte for byte, below the resource and the scope that it came with.
 *
 * @param {Body} given A valid one.
 * @param {number} mostBytes Of one message.
 * @returns {Promise<Fitted[]>}
 * @throws {Refusal} 413: a span alone, or a body in JSON, is larger.
 */
export async function fitted(given, mostBytes) {
  const { body, contentType } = given;
  if (body.length <= mostBytes) return [{ ...given, data: body }];
  const packed = await gzip(body, FAST);
  if (packed.length <= mostBytes) return [{ ...given, data: packed, encoding: "gzip" }];
  const spans = contentType === PROTOBUF ? countSpans(body, contentType) : 1;
  if (spans < 2) throw tooLarge(given, packed.length, mostBytes);
  const middle = Math.floor(spans / 2);
  const first = await fitted({ body: partOf(body, (index) => index < middle), contentType }, mostBytes);
  return [...first, ...(await fitted({ body: partOf(body, (index) => index >= middle), contentType }, mostBytes))];
}

/** @param {Body} given @param {number} packed @param {number} mostBytes */
function tooLarge({ body, contentType }, packed, mostBytes) {
  const cure = contentType === PROTOBUF ? "" : ", or send protocol buffers, which are cut between spans, or fewer spans at once";
  const what = contentType === PROTOBUF ? "a span" : "the body";
  const sizes = `${what} of ${body.length} bytes, ${packed} in gzip, is more than the ${mostBytes} that the server of the queue takes at once`;
  return new Refusal(413, `${sizes}; raise its max_payload${cure}`);
}

/**
 * A request with some of its spans. What stands beside spans in their scopes and resources comes with them.
 *
 * @param {Uint8Array} body
 * @param {(index: number) => boolean} isWanted
 * @returns {Uint8Array}
 */
export function partOf(body, isWanted) {
  let index = 0;
  return within(body, 0, () => isWanted(index++)).bytes;
}

/** @param {Uint8Array} message @param {number} depth @param {() => boolean} isNextWanted @returns {{ bytes: Uint8Array, hasSpans: boolean }} */
function within(message, depth, isNextWanted) {
  const reader = new BinaryReader(message);
  const writer = new BinaryWriter();
  let hasSpans = false;
  while (reader.pos < message.length) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    if (number !== PATH[depth] || type !== WireType.LengthDelimited) {
      reader.skip(type, number);
      writer.raw(message.subarray(start, reader.pos));
      continue;
    }
    const inner = reader.bytes();
    const part = depth + 1 < PATH.length ? within(inner, depth + 1, isNextWanted) : { bytes: inner, hasSpans: isNextWanted() };
    if (part.hasSpans) writer.tag(number, type).bytes(part.bytes);
    hasSpans ||= part.hasSpans;
  }
  return { bytes: writer.finish(), hasSpans };
}
