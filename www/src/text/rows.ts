/** Tokens as rows to draw: the lines of the call, cut where they are long, with what is folded as rows of their own. */
import type { CallTokens, Segment } from "../engine/contract.js";
import { above } from "./ranges.js";

export const RowKind = { tokens: 0, common: 1, run: 2 } as const;

/** Row `r` has the tokens from `starts[r]` up to `starts[r + 1]`, the last one up to `count`. */
export interface Rows {
  starts: Uint32Array;
  /** Of each row one of `RowKind`. */
  kinds: Uint8Array;
  count: number;
}

export interface RowOptions {
  /** So many tokens at most in a row of tokens. */
  width: number;
  /** So many characters at most, unless a token is longer. */
  characters: number;
  /** So many of the first tokens are one row; 0 for none. */
  common: number;
  /** Runs that are shown token by token, by their first token. */
  open: ReadonlySet<number>;
}

/** Runs of one token are drawn as one from this length on. */
const SHORTEST_RUN = 8;

/** `[start, end)` of runs of one token in padding and in what stands for images. */
export function repeatedRuns(ids: Uint32Array, segments: readonly Segment[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const { kind, tokens } of segments) {
    if (kind !== "placeholder" && kind !== "padding") continue;
    const end = Math.min(tokens[1], ids.length);
    for (let start = tokens[0], at = start + 1; start < end; at++) {
      if (at < end && ids[at] === ids[start]) continue;
      if (at - start >= SHORTEST_RUN) runs.push([start, at]);
      start = at;
    }
  }
  return runs;
}

export function buildRows(tokens: CallTokens, runs: readonly [number, number][], { width, characters, common, open }: RowOptions): Rows {
  const { ids, ends, lines } = tokens;
  const count = ids.length;
  const starts: number[] = [];
  const kinds: number[] = [];
  const push = (start: number, kind: number) => {
    starts.push(start);
    kinds.push(kind);
  };
  /** Tokens without folds: a row begins at each line, and where the last one is full. */
  const fill = (start: number, end: number) => {
    let line = above(lines, start);
    while (start < end) {
      push(start, RowKind.tokens);
      const lineEnd = Math.min(line < lines.length ? lines[line]! : count, end);
      const from = start === 0 ? 0 : ends[start - 1]!;
      const full = Math.min(lineEnd, start + width);
      start++;
      while (start < full && ends[start]! - from <= characters) start++;
      if (line < lines.length && start >= lines[line]!) line++;
    }
  };
  let at = Math.min(common, count);
  if (at > 0) push(0, RowKind.common);
  for (const [start, end] of runs) {
    if (end <= at) continue;
    fill(at, Math.max(start, at));
    if (open.has(start)) {
      at = Math.max(start, at);
      continue;
    }
    push(Math.max(start, at), RowKind.run);
    at = end;
  }
  fill(at, count);
  return { starts: Uint32Array.from(starts), kinds: Uint8Array.from(kinds), count };
}

/** The row that a token stands in. */
export function rowOf(rows: Rows, token: number): number {
  return Math.max(above(rows.starts, token) - 1, 0);
}

/** `[start, end)` of a row. */
export function tokensOf(rows: Rows, row: number): [number, number] {
  return [rows.starts[row]!, row + 1 < rows.starts.length ? rows.starts[row + 1]! : rows.count];
}

/** Pixels of a line, of a character, of what stands beside the text, and of what is above and below it. */
const LINE = 19;
const CHARACTER = 7.3;
const BESIDE = 84;
const AROUND = 2;
/** Lines are broken between words, so that they are not quite full. */
const FULL = 0.94;
const LINE_FEED = 10;

/** As high as rows are likely to be, in pixels, so that little moves when they are drawn: characters are of one width. */
export function likelyHeights(rows: Rows, { text, ends }: CallTokens, width: number): Uint16Array {
  const columns = Math.max(20, (FULL * (width - BESIDE)) / CHARACTER);
  // A loop: `from` with a function takes three times as long, which is felt with a million tokens.
  const heights = new Uint16Array(rows.starts.length).fill(AROUND + LINE);
  for (let row = 0; row < heights.length; row++) {
    if (rows.kinds[row] !== RowKind.tokens) continue;
    const start = rows.starts[row]!;
    const from = start === 0 ? 0 : ends[start - 1]!;
    const to = ends[tokensOf(rows, row)[1] - 1]!;
    let empty = 0;
    while (to - empty - 2 >= from && text.charCodeAt(to - empty - 1) === LINE_FEED && text.charCodeAt(to - empty - 2) === LINE_FEED) empty++;
    heights[row] = Math.min(0xffff, AROUND + LINE * (Math.max(1, Math.ceil((to - from - empty) / columns)) + empty));
  }
  return heights;
}
