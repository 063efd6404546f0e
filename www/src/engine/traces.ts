/** The traces that are open: bodies, and the list of all their rollouts, each at a position that it keeps. */
import type { Rollout, RolloutReader, SkippedPart } from "token2text";
import type { Checked, Problem, Row } from "./contract.js";
import { failure } from "./errors.js";
import { openBody, type Body } from "./reader.js";
import { Keys, countLevels, rowOf } from "./rows.js";
import type { Part } from "./sources.js";
import type { Tokenizers } from "./tokenizers.js";

export interface Opened {
  body: Body;
  reader: RolloutReader;
  /** Positions of its rollouts in the list. */
  places: number[];
}

/** So many rollouts are kept as they were read last. */
const RECENT = 16;
/** Lines of the list that are read at once. */
const LINES = 5000;

export class Traces {
  #opened = new Set<Opened>();
  /** For each row its body, and its position in that. */
  #rollouts: { opened: Opened; local: number }[] = [];
  #recent = new Map<number, Rollout>();
  #keys = new Keys();
  rows: Row[] = [];

  constructor(private readonly tokenizers: Tokenizers) {}

  get bodies(): Body[] {
    return Array.from(this.#opened, ({ body }) => body);
  }

  clear(): void {
    for (const { reader } of this.#opened) reader.free();
    this.#opened.clear();
    this.#empty();
  }

  /**
   * Reads a body, in place of another if that was its beginning or has grown to it. Gives the positions of its rows, and whether others
   * have moved: that is so when the body has fewer rollouts than the one before.
   */
  async add({ origin, source, content }: Part, before: Opened | undefined, signal: AbortSignal): Promise<{ opened: Opened; hasMoved: boolean; skipped: SkippedPart[] }> {
    signal.throwIfAborted();
    const reader = await openBody(source, origin, this.tokenizers.byPattern, { signal });
    if (signal.aborted) reader.free();
    signal.throwIfAborted();
    const opened: Opened = { body: { ...origin, content: content() }, reader, places: before?.places ?? [] };
    for (const at of opened.places) this.#recent.delete(at);
    if (before) {
      this.#opened.delete(before);
      before.reader.free();
    }
    this.#opened.add(opened);
    const hasMoved = opened.places.length > reader.length;
    if (hasMoved) this.#listAnew();
    else this.#list(opened);
    return { opened, hasMoved, skipped: reader.skipped };
  }

  /** Looks at the same traces with the tokenizers that there are now. Rows keep their positions if there are as many in each body. */
  use(): void {
    for (const { reader } of this.#opened) reader.use(this.tokenizers.byPattern);
    this.#recent.clear();
    this.rows = [...this.rows];
    const isSame = [...this.#opened].every(({ reader, places }) => reader.length === places.length);
    if (isSame) for (const opened of this.#opened) this.#list(opened);
    else this.#listAnew();
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
  check(at: number): Checked {
    const { reader, local } = this.place(at);
    const { findings, statistics } = this.#recent.get(at) ?? reader.rollout(local);
    const checked = { at, findings: countLevels(findings), toolCalls: statistics.toolCalls };
    Object.assign(this.rows[at], checked);
    return checked;
  }

  /** Where a rollout is: its body, the reader of that, and its position in it. */
  place(at: number): { body: Body; reader: RolloutReader; local: number } {
    const found = this.#rollouts[at];
    if (!found) throw failure("no_rollout", "There is no such rollout: the traces were opened anew");
    return { ...found.opened, local: found.local };
  }

  /** Puts the rollouts of a body into the list: where those before them were, then at the end. */
  #list(opened: Opened): void {
    const { body, reader, places } = opened;
    const before = places.length;
    for (const at of places) this.#keys.forget(this.rows[at].key);
    for (let from = 0; from < reader.length; from += LINES) {
      for (const [nth, overview] of reader.overview(from, Math.min(from + LINES, reader.length)).entries()) {
        const local = from + nth;
        const at = (places[local] ??= this.rows.length);
        const { revision = 0 } = this.rows[at] ?? {};
        const row = rowOf(at, body.name, this.#keys.of(body.name, overview, body.trace), overview);
        this.rows[at] = local < before ? { ...row, revision: revision + 1 } : row;
        this.#rollouts[at] = { opened, local };
      }
    }
  }

  #listAnew(): void {
    this.#empty();
    for (const opened of this.#opened) {
      opened.places = [];
      this.#list(opened);
    }
  }

  #empty(): void {
    this.rows = [];
    this.#rollouts = [];
    this.#keys = new Keys();
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
