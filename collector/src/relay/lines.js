/** JSON lines, which are looked into while they stream. */
import { valueOf } from "./headers.js";

/** Less is not worth a turn of its own, if more is there. */
const PIECE_BYTES = 256 << 10;
const LINE_FEED = 0x0a;

/** Whether an answer is JSON lines, and not compressed: what is, is held. @param {import("./headers.js").Headers} headers */
export function isPlainLines(headers) {
  return /jsonl|ndjson/i.test(valueOf(headers, "content-type") ?? "") && valueOf(headers, "content-encoding") === undefined;
}

/**
 * Cuts a stream into pieces of whole lines.
 *
 * @param {AsyncIterable<Buffer>} source
 * @param {number} most Bytes of a line; a longer one comes in pieces that are not whole.
 * @returns {AsyncGenerator<{ bytes: Buffer, isWhole: boolean }>} All bytes of the stream, in order.
 */
export async function* pieces(source, most) {
  /** @type {Buffer[]} */
  let pending = [];
  /** Bytes that are pending, and of these the ones in whole lines. */
  let [size, ended] = [0, 0];
  let isInLongLine = false;
  for await (let chunk of source) {
    if (isInLongLine) {
      const end = chunk.indexOf(LINE_FEED) + 1;
      isInLongLine = end === 0;
      yield { bytes: isInLongLine ? chunk : chunk.subarray(0, end), isWhole: false };
      if (isInLongLine) continue;
      chunk = chunk.subarray(end);
    }
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) ended = size + end;
    pending.push(chunk);
    size += chunk.length;
    isInLongLine = size - ended > most;
    if (!isInLongLine && (ended === 0 || size < PIECE_BYTES)) continue;
    const all = Buffer.concat(pending);
    if (ended > 0) yield { bytes: all.subarray(0, ended), isWhole: true };
    if (isInLongLine) yield { bytes: all.subarray(ended), isWhole: false };
    pending = isInLongLine ? [] : [all.subarray(ended)];
    size = isInLongLine ? 0 : size - ended;
    ended = 0;
  }
  if (size > 0) yield { bytes: Buffer.concat(pending), isWhole: true };
}
