/** The tokens of a call as the page draws them: text, where each token's part of it ends, and lines of a bearable length. */

/** A line is broken behind so many tokens, or characters. */
const MOST_TOKENS = 80;
const MOST_CHARACTERS = 240;
const LINE_FEED = 10;

/**
 * The token at which each drawn line begins. A line ends behind a token whose part of the text holds a line feed.
 *
 * @param ends For each token where its part of `text` ends.
 */
export function lineStarts(text: string, ends: Uint32Array): Uint32Array {
  const starts: number[] = ends.length > 0 ? [0] : [];
  let first = 0;
  let feed = text.indexOf("\n");
  for (let token = 0; token < ends.length - 1; token++) {
    const end = ends[token];
    const from = first > 0 ? ends[first - 1] : 0;
    const breaks = feed !== -1 && feed < end;
    if (breaks) feed = text.indexOf("\n", end);
    if (!breaks && token + 1 - first < MOST_TOKENS && end - from < MOST_CHARACTERS) continue;
    // Parts of one character stay together.
    if (!breaks && ends[token + 1] === end && text.charCodeAt(end - 1) !== LINE_FEED && token + 1 - first < 2 * MOST_TOKENS) continue;
    starts.push((first = token + 1));
  }
  return Uint32Array.from(starts);
}

/** The tokens `[first, last)` that gave the characters `[start, end)`, with those that own nothing behind them but belong to the same character. */
export function tokensOfText(ends: Uint32Array, start: number, end: number): [start: number, end: number] {
  const first = firstBeyond(ends, start);
  let last = firstBeyond(ends, end - 1) + 1;
  while (last < ends.length && ends[last] === ends[last - 1]) last++;
  return [first, Math.min(last, ends.length)];
}

/** The first token whose part ends behind the position. */
function firstBeyond(ends: Uint32Array, position: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle] > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
