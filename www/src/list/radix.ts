/** Sorting of many rows by a number each: stable, in a time that grows with their count alone. */
import type { Pace } from "../pace.js";

const BITS = 16;
const BUCKETS = 1 << BITS;
/** Digits of a double. */
const DIGITS = 64 / BITS;
/** So many rows between two looks at the clock. */
const STRIDE = 4096;

/**
 * Sorts `order`, positions in `values`, by their values from the least to the greatest. Those with NaN come last, also when
 * `descending`; equal ones stay as they were.
 */
export async function sortByValue(order: Uint32Array, values: Float64Array, descending: boolean, pace: Pace): Promise<Uint32Array> {
  const keys = new Uint16Array(values.length * DIGITS);
  await inStrides(values.length, pace, (start, end) => writeDigits(keys, values, descending, start, end));
  let from = order;
  let to: Uint32Array = new Uint32Array(order.length);
  const starts = new Uint32Array(BUCKETS + 1);
  for (let digit = 0; digit < DIGITS; digit++) {
    starts.fill(0);
    await inStrides(order.length, pace, (start, end) => countDigits(keys, digit, from, starts, start, end));
    if (starts.includes(order.length)) continue; // All have the same digit.
    sumUp(starts);
    await inStrides(order.length, pace, (start, end) => place(keys, digit, from, to, starts, start, end));
    [from, to] = [to, from === order ? new Uint32Array(order.length) : from];
  }
  return from;
}

/** A loop that lets the page have its turn. */
async function inStrides(count: number, pace: Pace, work: (start: number, end: number) => void): Promise<void> {
  for (let start = 0; start < count; start += STRIDE) {
    if (pace.isDue()) await pace.rest();
    work(start, Math.min(start + STRIDE, count));
  }
}

function countDigits(keys: Uint16Array, digit: number, order: Uint32Array, counts: Uint32Array, start: number, end: number): void {
  for (let at = start; at < end; at++) counts[keys[order[at]! * DIGITS + digit]! + 1]!++;
}

function sumUp(counts: Uint32Array): void {
  for (let bucket = 0; bucket < BUCKETS; bucket++) counts[bucket + 1]! += counts[bucket]!;
}

function place(keys: Uint16Array, digit: number, from: Uint32Array, to: Uint32Array, starts: Uint32Array, start: number, end: number): void {
  for (let at = start; at < end; at++) {
    const value = from[at]!;
    to[starts[keys[value * DIGITS + digit]!]!++] = value;
  }
}

/** For each double its digits, the lowest first, so that they are ordered as the doubles are. */
function writeDigits(keys: Uint16Array, values: Float64Array, descending: boolean, start: number, end: number): void {
  const doubles = new Float64Array(keys.buffer);
  const bits = new Uint32Array(keys.buffer);
  for (let at = start; at < end; at++) {
    doubles[at] = values[at]! + 0; // -0 is 0.
    let low = bits[at * 2]!;
    let high = bits[at * 2 + 1]!;
    if (Number.isNaN(doubles[at])) {
      low = high = 0xffffffff;
    } else {
      // Negative numbers are ordered the other way round.
      const isNegative = high >>> 31 === 1;
      if (isNegative !== descending) low = ~low;
      high = isNegative ? (descending ? high : ~high) : descending ? ~(high | 0x80000000) : high | 0x80000000;
    }
    bits[at * 2] = low;
    bits[at * 2 + 1] = high;
  }
}
