import type { Engine, Hit, Query } from "../engine/contract.js";
import { failureOf } from "../session.js";

/** Hits that are asked for at most: more nobody walks through. */
const MOST = 10_000;

/** What is searched for, and what was found. */
export class SearchState {
  query: Query = { text: "", kind: "text", matchCase: false };
  /** Whether in all rollouts, or in the one that is looked at. */
  isEverywhere = true;
  hits: Hit[] = [];
  /** The hit that is looked at, or -1. */
  current = -1;
  progress?: { done: number; total: number };
  isRunning = false;
  /** Whether the query has changed, and is searched for in a moment. */
  isWaiting = false;
  /** Whether there are more hits than were asked for. */
  isCut = false;
  failure?: string;
  /** Counts the searches. */
  private runs = 0;
  /** Rollouts that have changed while it ran. */
  private later = new Set<number>();
  private isAddingHits = false;
  /** What the hits are of. */
  private ran?: { query: Query; rollout?: number };

  constructor(
    private readonly engine: Engine,
    private readonly changed: () => void,
  ) {}

  get isActive(): boolean {
    return this.query.text.trim() !== "";
  }

  /** Whether the hits are not, or no longer, those of the query in this rollout. */
  isStale(rollout: number | undefined): boolean {
    const { ran, query } = this;
    const scope = this.isEverywhere ? undefined : rollout;
    return ran === undefined || ran.query !== query || ran.rollout !== scope;
  }

  /** Searches anew; what was found comes in batches. */
  async run(rollout: number | undefined): Promise<void> {
    const run = ++this.runs;
    const scope = this.isEverywhere ? undefined : rollout;
    this.ran = { query: this.query, rollout: scope };
    this.later.clear();
    Object.assign(this, { hits: [], current: -1, progress: undefined, isWaiting: false, isCut: false, failure: undefined });
    this.isRunning = this.isActive && (this.isEverywhere || rollout !== undefined);
    this.changed();
    if (!this.isRunning) return void this.engine.cancel("search").catch(() => {});
    try {
      const rollouts = scope === undefined ? undefined : [scope];
      const { isWhole } = await this.engine.search(this.query, { rollouts, limit: MOST }, (hits, done, total) => {
        if (run !== this.runs) return;
        this.hits.push(...hits);
        this.progress = { done, total };
        this.changed();
      });
      if (run === this.runs) this.isCut = !isWhole;
    } catch (error) {
      const { code, message } = failureOf(error);
      if (run === this.runs && code !== "aborted") this.failure = message;
    }
    if (run !== this.runs) return;
    this.isRunning = false;
    this.changed();
    if (this.later.size > 0) await this.again([]);
  }

  /** Searches in rollouts that came, or have grown; what was found in others stays. */
  async again(rollouts: readonly number[]): Promise<void> {
    for (const at of rollouts) this.later.add(at);
    const { ran, runs: run } = this;
    if (!this.isActive || !ran || this.isRunning || this.isAddingHits || this.isWaiting || this.isCut || this.failure) return;
    const changed = [...this.later].filter((at) => ran.rollout === undefined || ran.rollout === at).sort((a, b) => a - b);
    this.later.clear();
    if (changed.length === 0) return;
    const found: Hit[] = [];
    this.isAddingHits = true;
    try {
      await this.engine.search(ran.query, { rollouts: changed, limit: MOST }, (hits) => void found.push(...hits));
    } catch {
      // Another search has begun, or what was found before stays as it is.
    }
    this.isAddingHits = false;
    if (run !== this.runs) return;
    this.take(found, new Set(changed));
    if (this.later.size > 0) await this.again([]);
  }

  /** Puts the hits of some rollouts in place of those that they had; the one that is looked at stays so if it is still there. */
  private take(found: Hit[], rollouts: ReadonlySet<number>): void {
    const looked = this.hits[this.current];
    const kept = this.hits.filter(({ rollout }) => !rollouts.has(rollout));
    // A stable sort: within a rollout they are in order.
    this.hits = [...kept, ...found].sort((a, b) => a.rollout - b.rollout).slice(0, MOST);
    this.current = looked ? this.hits.findIndex((hit) => hit === looked || isSame(hit, looked)) : -1;
    this.changed();
  }

  stop(): void {
    void this.engine.cancel("search").catch(() => {});
  }

  /** The hits are of other traces, or of the same ones read otherwise. */
  forget(): void {
    this.runs++;
    this.ran = undefined;
    this.later.clear();
    Object.assign(this, { hits: [], current: -1, isRunning: false, progress: undefined });
  }

  /** The hit behind the current one or before it, from the rollout that is looked at; at the end it begins again. */
  step(by: 1 | -1, rollout: number | undefined): Hit | undefined {
    const { length } = this.hits;
    if (length === 0) return undefined;
    if (this.current >= 0) {
      this.current = (this.current + by + length) % length;
    } else {
      const start = Math.max(0, lowerBound(this.hits, rollout ?? 0));
      this.current = by > 0 ? start % length : (start - 1 + length) % length;
    }
    this.changed();
    return this.hits[this.current];
  }

  pick(hit: Hit): void {
    this.current = this.hits.indexOf(hit);
    this.changed();
  }

  /** Of one rollout: its hits, and which of them is looked at. */
  of(rollout: number | undefined): { hits: Hit[]; hit: number } {
    if (rollout === undefined) return { hits: [], hit: -1 };
    const from = lowerBound(this.hits, rollout);
    const hits = this.hits.slice(from, lowerBound(this.hits, rollout + 1));
    const hit = this.current - from;
    return { hits, hit: hit >= 0 && hit < hits.length ? hit : -1 };
  }
}

function isSame(one: Hit, other: Hit): boolean {
  return one.rollout === other.rollout && one.call === other.call && one.tokens[0] === other.tokens[0] && one.tokens[1] === other.tokens[1];
}

/** Position of the first hit that is not before a rollout: hits come in the order of the rollouts. */
function lowerBound(hits: readonly Hit[], rollout: number): number {
  let low = 0;
  let high = hits.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hits[middle]!.rollout < rollout) low = middle + 1;
    else high = middle;
  }
  return low;
}
