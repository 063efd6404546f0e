/** The traces that are open: bodies one behind the other, and the list of all their rollouts. */
import type { Rollout, RolloutReader, SkippedPart } from "token2text";
import type { Problem, Row } from "./contract.js";
import { failure } from "./errors.js";
import { openBody, type Body } from "./reader.js";
import { Keys, countLevels, rowOf } from "./rows.js";
import type { Part } from "./sources.js";
import type { Tokenizers } from "./tokenizers.js";

interface Opened {
  body: Body;
  reader: RolloutReader;
  /** Position of its first rollout in the list. */
  first: number;
}

/** So many rollouts are kept as they were read last. */
const RECENT = 16;
/** Lines of the list that are read at once. */
const LINES = 5000;

export class Traces {
  #opened: Opened[] = [];
  #recent = new Map<number, Rollout>();
  #keys = new Keys();
  #last: Promise<unknown> = Promise.resolve();
  rows: Row[] = [];

  constructor(private readonly tokenizers: Tokenizers) {}

  get bodies(): Body[] {
    return this.#opened.map(({ body }) => body);
  }

  clear(): void {
    this.#shorten(0);
  }

  /** Reads a body, in place of the last one if that was its beginning. Gives the position from which on there are new rows. */
  add({ origin, source, content }: Part, replacesLast: boolean, signal: AbortSignal): Promise<{ from: number; skipped: SkippedPart[] }> {
    return this.#inTurn(async () => {
      signal.throwIfAborted();
      const reader = await openBody(source, origin, this.tokenizers.byPattern, { signal });
      if (signal.aborted) reader.free();
      signal.throwIfAborted();
      if (replacesLast) this.#shorten(this.#opened.length - 1);
      const first = this.rows.length;
      const body = { ...origin, content: content() };
      this.#opened.push({ body, reader, first });
      this.#addRows(body, reader);
      return { from: first, skipped: reader.skipped };
    });
  }

  /** Looks at the same traces with the tokenizers that there are now. */
  use(): Promise<void> {
    return this.#inTurn(async () => {
      for (const { reader } of this.#opened) reader.use(this.tokenizers.byPattern);
      this.#recent.clear();
      this.#keys = new Keys();
      this.rows = [];
      for (const opened of this.#opened) {
        opened.first = this.rows.length;
        this.#addRows(opened.body, opened.reader);
      }
    });
  }

  rollout(at: number): Rollout {
    const kept = this.#recent.get(at);
    if (kept) return kept;
    const { reader, local } = this.place(at);
    const rollout = reader.rollout(local);
    this.#recent.set(at, rollout);
    if (this.#recent.size > RECENT) this.#recent.delete(this.#recent.keys().next().value!);
    return rollout;
  }

  /** Looks at a rollout for its row alone. */
  check(at: number): Row {
    const { reader, local } = this.place(at);
    const { findings, statistics } = this.#recent.get(at) ?? reader.rollout(local);
    return (this.rows[at] = { ...this.rows[at], findings: countLevels(findings), toolCalls: statistics.toolCalls });
  }

  /** Where a rollout is: its body, the reader of that, and its position in it. */
  place(at: number): { body: Body; reader: RolloutReader; local: number } {
    const opened = this.#opened.findLast(({ first }) => first <= at);
    if (!opened || at >= this.rows.length) throw failure("no_rollout", "There is no such rollout: the traces were opened anew");
    return { ...opened, local: at - opened.first };
  }

  /** One after the other: a body is read with the tokenizers that there are at its turn. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  #addRows({ name }: Body, reader: RolloutReader): void {
    for (let from = 0; from < reader.length; from += LINES) {
      for (const overview of reader.overview(from, Math.min(from + LINES, reader.length))) {
        this.rows.push(rowOf(this.rows.length, name, this.#keys.of(name, overview), overview));
      }
    }
  }

  /** Leaves so many bodies. */
  #shorten(count: number): void {
    const [gone] = this.#opened.slice(count);
    for (const { reader } of this.#opened.splice(count)) reader.free();
    if (gone) for (const { key } of this.rows.splice(gone.first)) this.#keys.forget(key);
    this.#recent.clear();
  }
}

/** What could not be read, alike together. */
export function problemsOf(source: string, skipped: readonly SkippedPart[]): Problem[] {
  const problems = new Map<string, Problem>();
  for (const { path, reason, detail } of skipped) {
    const known = problems.get(reason);
    if (known) known.count++;
    else problems.set(reason, { source, code: reason, message: detail, count: 1, path });
  }
  return [...problems.values()];
}
