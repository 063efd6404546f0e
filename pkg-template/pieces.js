/** Which token gave which part of a text. */

/**
 * A text, and which token gave which part of it: token `i` has `text.slice(ends[i - 1] ?? 0, ends[i])`.
 *
 * A character that several tokens share belongs to the one that holds its first byte, and U+FFFD to the one that holds the
 * first byte it stands for. A space that a decoder puts between two tokens belongs to the second. Ids that are unknown or
 * left out own nothing, and so do tokens that a CTC decoder drops as repeated.
 *
 * @typedef {object} Pieces
 * @property {string} text What `decode` gives.
 * @property {Uint32Array} ends Where the part of each token ends in the text, as JavaScript counts (UTF-16).
 * @property {Uint8Array} flags What is to be known of each token: the sum of values of `PieceFlag`.
 */

/** What the flags of a piece say. */
export const PieceFlag = Object.freeze({
  /** `skipSpecialTokens` leaves the token out. */
  special: 1,
  /** The id has no token. */
  unknown: 2,
  /** The token begins inside a character that began in an earlier one. */
  continues: 4,
  /** The token stands for one byte (`<0x0A>`). */
  byte: 8,
  /**
   * The part is that of the tokens before it too, back to the last one that owns text: the decoder changes their texts as
   * one, so that it cannot be told what is whose. Or it is nobody's: the decoder makes it of no token at all.
   */
  unattributed: 16,
});

/**
 * Takes apart what the core gives: ends in UTF-8 as words, flags as bytes, text.
 *
 * @param {Uint8Array} packed In a buffer of its own.
 * @param {number} count Of tokens.
 * @param {(bytes: Uint8Array) => string} textOf
 * @returns {Pieces}
 */
export function unpackPieces(packed, count, textOf) {
  const ends = new Uint32Array(packed.buffer.slice(0, 4 * count));
  const flags = packed.slice(4 * count, 5 * count);
  const bytes = packed.subarray(5 * count);
  const text = textOf(bytes);
  if (text.length !== bytes.length) countUnits(ends, bytes);
  return { text, ends, flags };
}

/** Makes ends in UTF-8 those in UTF-16. @param {Uint32Array} ends @param {Uint8Array} bytes */
function countUnits(ends, bytes) {
  let [at, units] = [0, 0];
  for (let i = 0; i < ends.length; i++) {
    for (; at < ends[i]; at++) {
      const byte = bytes[at];
      // Each first byte of a character counts, and that of one beyond U+FFFF twice.
      if ((byte & 0xc0) !== 0x80) units += byte < 0xf0 ? 1 : 2;
    }
    ends[i] = units;
  }
}
