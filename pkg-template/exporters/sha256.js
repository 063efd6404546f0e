/**
 * SHA-256, at once and everywhere: `crypto.subtle` is missing on pages of plain http, which is how Trackio's own pages are
 * served in a local network.
 */

/** The first 32 bits of the fractions of the roots of the first primes, as the standard (FIPS 180-4) defines them. */
const PRIMES = firstPrimes(64);
const ROUND = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const INITIAL = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

/**
 * The digest in 64 hexadecimal digits.
 *
 * @param {string} text
 */
export function sha256(text) {
  const bytes = padded(new TextEncoder().encode(text));
  const state = INITIAL.slice();
  const schedule = new Uint32Array(64);
  for (let at = 0; at < bytes.byteLength; at += 64) mix(state, schedule, new DataView(bytes.buffer, at, 64));
  return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}

/** The message, a one, zeros, and its length in bits: whole blocks of 64 bytes. @param {Uint8Array} message */
function padded(message) {
  const bytes = new Uint8Array(Math.ceil((message.length + 9) / 64) * 64);
  bytes.set(message);
  bytes[message.length] = 0x80;
  new DataView(bytes.buffer).setBigUint64(bytes.length - 8, BigInt(message.length) * 8n);
  return bytes;
}

/** @param {Uint32Array} state @param {Uint32Array} schedule @param {DataView} block */
function mix(state, schedule, block) {
  for (let i = 0; i < 16; i++) schedule[i] = block.getUint32(4 * i);
  for (let i = 16; i < 64; i++) {
    const [early, late] = [schedule[i - 15], schedule[i - 2]];
    const s0 = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3);
    const s1 = turn(late, 17) ^ turn(late, 19) ^ (late >>> 10);
    schedule[i] = schedule[i - 16] + s0 + schedule[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const choice = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const t1 = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + choice + ROUND[i] + schedule[i]) | 0;
    const t2 = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}

/** @param {number} word @param {number} bits */
function turn(word, bits) {
  return (word >>> bits) | (word << (32 - bits));
}

/** @param {number} root */
function fraction(root) {
  return Math.floor((root % 1) * 2 ** 32);
}

/** @param {number} count */
function firstPrimes(count) {
  /** @type {number[]} */
  const primes = [];
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  return primes;
}
