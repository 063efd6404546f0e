import type { Row } from "../engine/contract.js";
import { Pace } from "../pace.js";
import type { Column } from "./columns.js";
import { matcher, type Filter } from "./filter.js";
import { sortByValue } from "./radix.js";

export interface Sort {
  column: Column;
  descending: boolean;
}

/** The rollouts of one sample at one step. */
export interface Group {
  /** Position in the rows of the first of them. */
  first: number;
  count: number;
  /** Of their rewards, where there are any. */
  reward?: { mean: number; deviation: number };
}

/** What the list shows, from its first line to its last. */
export interface Arrangement {
  /** For each line the position of its row, or the bits of `-1 - group` for the head of a group. */
  lines: Int32Array;
  groups: Group[];
  /** Lines that are rows. */
  shown: number;
}

/**
 * Filters, sorts and groups rows, letting the page have its turn now and then; nothing if `signal` says that another arrangement is
 * wanted by now.
 */
export async function arrange(
  rows: readonly Row[],
  options: { filter: Filter; sort?: Sort; isGrouped: boolean },
  signal: AbortSignal,
): Promise<Arrangement | undefined> {
  const pace = new Pace();
  let order = await filtered(rows, options.filter, pace);
  const { sort, isGrouped } = options;
  if (sort) order = await sorted(rows, order, sort.column, sort.descending, pace);
  if (!isGrouped) return signal.aborted ? undefined : { lines: new Int32Array(order), groups: [], shown: order.length };
  if (!sort) order = await sorted(rows, order, { number: (row) => row.rolloutN }, false, pace);
  for (const number of SAMPLE) order = await sorted(rows, order, { number }, false, pace);
  order = await sorted(rows, order, { text: (row) => row.experimentName }, false, pace);
  const arrangement = await grouped(rows, order, pace);
  return signal.aborted ? undefined : arrangement;
}

/** What rollouts of one sample have in common, the least first. */
const SAMPLE: ((row: Row) => number | undefined)[] = [
  (row) => row.sampleIndex,
  (row) => Number(row.validate ?? false),
  (row) => row.step,
];

/** Whether two rollouts are of the same sample at the same step. */
export function areSiblings(one: Row, other: Row): boolean {
  return (
    one.sampleIndex !== undefined &&
    one.sampleIndex === other.sampleIndex &&
    one.step === other.step &&
    (one.validate ?? false) === (other.validate ?? false) &&
    one.experimentName === other.experimentName
  );
}

async function filtered(rows: readonly Row[], filter: Filter, pace: Pace): Promise<Uint32Array> {
  const matches = matcher(filter);
  const order = new Uint32Array(rows.length);
  let count = 0;
  for (let at = 0; at < order.length; at++) {
    if (!matches || matches(rows[at]!)) order[count++] = at;
    if (at % 256 === 255 && pace.isDue()) await pace.rest();
  }
  return order.subarray(0, count);
}

async function sorted(
  rows: readonly Row[],
  order: Uint32Array,
  { number, text }: Pick<Column, "number" | "text">,
  descending: boolean,
  pace: Pace,
): Promise<Uint32Array> {
  const rank = text && (await ranks(rows, order, text, pace));
  const values = new Float64Array(rows.length).fill(NaN);
  let seen = 0;
  for (const at of order) {
    const row = rows[at];
    if (row) values[at] = (rank ? rank.get(text!(row)) : number!(row)) ?? NaN;
    if (seen++ % 1024 === 1023 && pace.isDue()) await pace.rest();
  }
  const result = await sortByValue(order, values, descending, pace);
  if (pace.isDue()) await pace.rest();
  return result;
}

/** Texts are sorted by their place among the different ones. */
async function ranks(rows: readonly Row[], order: Uint32Array, text: (row: Row) => string | undefined, pace: Pace) {
  const different = new Set<string>();
  let seen = 0;
  for (const at of order) {
    const value = rows[at] && text(rows[at]);
    if (value !== undefined) different.add(value);
    if (seen++ % 1024 === 1023 && pace.isDue()) await pace.rest();
  }
  // A collator is too slow for ids, of which each row has another.
  const collator = different.size > 2000 ? undefined : new Intl.Collator(undefined, { numeric: true });
  const places = new Map<string | undefined, number>();
  for (const value of await sortedTexts([...different], collator?.compare, pace)) {
    places.set(value, places.size);
    if (places.size % 1024 === 0 && pace.isDue()) await pace.rest();
  }
  return places;
}

/** Sorts runs of texts and merges them, so that the page gets its turn between any two. */
async function sortedTexts(texts: string[], compare: ((a: string, b: string) => number) | undefined, pace: Pace) {
  const isAfter = compare ? (a: string, b: string) => compare(a, b) > 0 : (a: string, b: string) => a > b;
  let runs: string[][] = [];
  for (let at = 0; at < texts.length; at += 2048) {
    runs.push(texts.slice(at, at + 2048).sort(compare));
    if (pace.isDue()) await pace.rest();
  }
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at]!, runs[at + 1] ?? [], isAfter, pace));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(left: string[], right: string[], isAfter: (a: string, b: string) => boolean, pace: Pace) {
  const merged: string[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length && r < right.length) {
    merged.push(isAfter(left[l]!, right[r]!) ? right[r++]! : left[l++]!);
    if (merged.length % 1024 === 0 && pace.isDue()) await pace.rest();
  }
  while (l < left.length) merged.push(left[l++]!);
  while (r < right.length) merged.push(right[r++]!);
  return merged;
}

async function grouped(rows: readonly Row[], order: Uint32Array, pace: Pace): Promise<Arrangement> {
  const lines = new Int32Array(order.length * 2);
  const groups: Group[] = [];
  let line = 0;
  for (let start = 0, end = 0; start < order.length; start = end) {
    const first = rows[order[start]!]!;
    for (end = start + 1; end < order.length && areSiblings(first, rows[order[end]!]!); ) end++;
    lines[line++] = -1 - groups.length;
    groups.push({ first: order[start]!, count: end - start, reward: rewards(rows, order.subarray(start, end)) });
    lines.set(order.subarray(start, end), line);
    line += end - start;
    if (pace.isDue()) await pace.rest();
  }
  return { lines: lines.subarray(0, line), groups, shown: order.length };
}

function rewards(rows: readonly Row[], order: Uint32Array): Group["reward"] {
  let count = 0;
  let sum = 0;
  let squares = 0;
  for (const at of order) {
    const reward = rows[at]?.reward;
    if (reward === undefined) continue;
    count++;
    sum += reward;
    squares += reward * reward;
  }
  if (count === 0) return undefined;
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(Math.max(0, squares / count - mean * mean)) };
}
