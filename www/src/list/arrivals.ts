/** Rows that came of a source that is followed: which of them are out of sight, and which have just come into sight. */

/** Milliseconds for which a row that came into sight is marked. */
const FRESH_MILLIS = 1600;

export class Arrivals {
  /** Their lines, as rows are arranged now. */
  #lines: [line: number, at: number][] = [];
  #fresh = new Set<number>();
  /** Lines of those that are above what is in sight, and below it. */
  above: number[] = [];
  below: number[] = [];

  constructor(private readonly changed: () => void) {}

  /** Rows stand in other lines. Those that are filtered out have none. */
  arrange(lines: Int32Array, arrived: ReadonlySet<number>): void {
    this.#lines = [];
    if (arrived.size === 0) return;
    lines.forEach((at, line) => {
      if (arrived.has(at)) this.#lines.push([line, at]);
    });
  }

  /** Lines from `first` up to `last` are in sight: rows in them are taken out of `arrived`. */
  see({ first, last }: { first: number; last: number }, arrived: Set<number>): void {
    const isSeen = ([line]: [number, number]) => line >= first && line < last;
    for (const [, at] of this.#lines.filter(isSeen)) {
      if (!arrived.delete(at)) continue;
      this.#fresh.add(at);
      setTimeout(() => {
        this.#fresh.delete(at);
        this.changed();
      }, FRESH_MILLIS);
    }
    this.#lines = this.#lines.filter(([line, at]) => arrived.has(at) && !isSeen([line, at]));
    const lines = this.#lines.map(([line]) => line);
    this.above = lines.filter((line) => line < first);
    this.below = lines.filter((line) => line >= last);
  }

  isFresh(at: number): boolean {
    return this.#fresh.has(at);
  }
}
