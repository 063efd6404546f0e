/** Search over all rollouts. Texts are decoded at the first search, and kept up to a bound. */
import type { Hit, Query } from "./contract.js";
import type { Job } from "./jobs.js";
import { finderOf, type Finder, type Stretch } from "./pattern.js";
import type { Tokenizers } from "./tokenizers.js";
import type { Traces } from "./traces.js";

/** What a call adds to its parent; a stretch that begins at the token `first` of the call. */
interface Added extends Stretch {
  call: number;
  first: number;
}

/** Bytes of ids, texts and positions that are kept, at most. */
const MOST_BYTES = 256 << 20;
/** Characters of a hit, and before and behind it. */
const AROUND = 80;
/** Hits are told after so many, or so many milliseconds. */
const BATCH = 500;
const MILLIS = 100;

export class Search {
  #kept = new Map<number, { added: Added[]; bytes: number }>();
  #bytes = 0;

  constructor(
    private readonly traces: Traces,
    private readonly tokenizers: Tokenizers,
  ) {}

  /** The traces or the tokenizers are others. */
  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  /** These rollouts are others. */
  forget(rollouts: readonly number[]): void {
    for (const at of rollouts) {
      this.#bytes -= this.#kept.get(at)?.bytes ?? 0;
      this.#kept.delete(at);
    }
  }

  async run(query: Query, { rollouts, limit }: { rollouts?: number[]; limit: number }, job: Job, onHits: (hits: Hit[], done: number, total: number) => unknown): Promise<{ hits: number; isWhole: boolean }> {
    const find = finderOf(query);
    const total = rollouts?.length ?? this.traces.rows.length;
    let count = 0;
    let batch: Hit[] = [];
    let told = performance.now();
    const tell = async (done: number) => {
      await onHits(batch, done, total);
      batch = [];
      told = performance.now();
    };
    for (let done = 0; done < total; done++) {
      await job.breathe();
      for (const hit of this.#hits(rollouts?.[done] ?? done, find)) {
        if (count === limit) {
          await tell(done);
          return { hits: count, isWhole: false };
        }
        count++;
        batch.push(hit);
        if (batch.length >= BATCH) await tell(done);
      }
      if (performance.now() - told > MILLIS) await tell(done + 1);
    }
    await tell(total);
    return { hits: count, isWhole: true };
  }

  *#hits(rollout: number, find: Finder): Generator<Hit> {
    for (const added of this.#added(rollout)) {
      for (const [start, end] of find(added)) {
        yield { rollout, call: added.call, tokens: [added.first + start, added.first + end], snippet: snippetOf(added, start, end) };
      }
    }
  }

  #added(at: number): Added[] {
    const kept = this.#kept.get(at);
    if (kept) return kept.added;
    const { reader, local } = this.traces.place(at);
    const { calls, tokenizer: pattern } = reader.added(local);
    const tokenizer = this.tokenizers.of(pattern);
    const added = calls.map((call) => {
      const { text, ends } = tokenizer?.pieces(call.ids) ?? { text: "", ends: new Uint32Array(call.ids.length) };
      return { ...call, text, ends };
    });
    const bytes = added.reduce((sum, { text, ends }) => sum + 2 * text.length + 8 * ends.length, 0);
    if (this.#bytes + bytes <= MOST_BYTES) {
      this.#bytes += bytes;
      this.#kept.set(at, { added, bytes });
    }
    return added;
  }
}

/** Tokens with what stands around them. */
function snippetOf({ text, ends }: Stretch, start: number, end: number): Hit["snippet"] {
  if (text === "") return undefined;
  const [from, to] = [start > 0 ? ends[start - 1] : 0, ends[end - 1]];
  return { before: text.slice(Math.max(0, from - AROUND), from), found: text.slice(from, Math.min(to, from + AROUND)), after: text.slice(to, to + AROUND) };
}
