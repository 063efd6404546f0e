/** Places in sorted lists. */
import type { Hit, Segment } from "../engine/contract.js";

export type Range = [start: number, end: number];

/** How many of the ascending numbers are at most `value`: the position of the first one above it. */
export function above(list: ArrayLike<number>, value: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Position of the first of the ranges, which follow one another, that ends behind `at`. */
export function firstEndingBehind(ranges: readonly { tokens: Range }[], at: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.tokens[1] > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The range that a token stands in. */
export function rangeAt<T extends { tokens: Range }>(ranges: readonly T[], token: number): T | undefined {
  const found = ranges[firstEndingBehind(ranges, token)];
  return found && found.tokens[0] <= token ? found : undefined;
}

export function segmentAt(segments: readonly Segment[], token: number): Segment | undefined {
  return rangeAt(segments, token);
}

/** Those that lie at least in part in `[start, end)`; hits may lie over one another, none is longer than `longest`. */
export function hitsWithin(hits: readonly Hit[], start: number, end: number, longest: number): Hit[] {
  let [low, high] = [0, hits.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (hits[middle]!.tokens[0] > start - longest) high = middle;
    else low = middle + 1;
  }
  const found: Hit[] = [];
  for (let at = low; at < hits.length && hits[at]!.tokens[0] < end; at++) if (hits[at]!.tokens[1] > start) found.push(hits[at]!);
  return found;
}

export function overlap(a: Range, b: Range): boolean {
  return a[0] < b[1] && b[0] < a[1];
}
