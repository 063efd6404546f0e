/** Sorting of many rows by a number each: stable, in a time that grows with their count alone. */

const BITS = 16;
const BUCKETS = 1 << BITS;

/**
 * Sorts `order`, positions in `values`, by their values from the least to the greatest. Those with NaN come last, also when
 * `descending`; equal ones stay as they were.
 */
export function sortByValue(order: Uint32Array, values: Float64Array, descending: boolean): Uint32Array {
  const keys = sortableBits(values, descending);
  let from = order;
  let to: Uint32Array = new Uint32Array(order.length);
  const starts = new Uint32Array(BUCKETS + 1);
  for (let part = 0; part < 4; part++) {
    starts.fill(0);
    for (const at of from) starts[keys[at * 4 + part]! + 1]!++;
    if (starts.includes(from.length)) continue; // All have the same digit.
    for (let bucket = 0; bucket < BUCKETS; bucket++) starts[bucket + 1]! += starts[bucket]!;
    for (const at of from) to[starts[keys[at * 4 + part]!]!++] = at;
    [from, to] = [to, from === order ? new Uint32Array(order.length) : from];
  }
  return from;
}

/** For each double four digits, the lowest first, that are ordered as the doubles are. */
function sortableBits(values: Float64Array, descending: boolean): Uint16Array {
  const doubles = new Float64Array(values.length);
  for (let at = 0; at < values.length; at++) doubles[at] = values[at]! + 0; // -0 is 0.
  const bits = new Uint32Array(doubles.buffer);
  for (let at = 0; at < values.length; at++) {
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
  return new Uint16Array(bits.buffer);
}
