/** What the head of a packed tokenizer says; docs/packed.md has its layout. */

const MAGIC = "\x89T2TPACK";
/** So many bytes say what a file is. */
export const HEAD = 52;
/** Where the SHA-256 of the source begins, the last of them; zeros if it is not known. */
const SOURCE = 20;

/** @param {Uint8Array} bytes */
export function isPacked(bytes) {
  return String.fromCharCode(...bytes.subarray(0, MAGIC.length)) === MAGIC;
}

/**
 * The SHA-256 in hex of the tokenizer.json that a packed tokenizer was made of, if it says so.
 *
 * @param {Uint8Array} bytes Of any file, at least its head.
 * @returns {string | undefined}
 */
export function sourceOf(bytes) {
  if (!isPacked(bytes)) return undefined;
  const hex = toHex(bytes.subarray(SOURCE, HEAD));
  return /[1-9a-f]/.test(hex) ? hex : undefined;
}

/** @param {Uint8Array} bytes */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** @param {string} hex */
export function fromHex(hex) {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}
