/** What is open: tokenizers, rollouts, what is being loaded and what failed. The elements draw it; the engine does the work. */
import type { Engine, KeptTokenizer, OpenListener, Problem, Progress, Row, Source, TokenizerFacts } from "./engine/contract.js";
import { ListFacts, type Column, type Scale } from "./list/columns.js";
import { Live } from "./live.js";

/** Something that is being loaded, or was. */
export interface Load {
  id: number;
  what: "tokenizer" | "traces";
  name: string;
  state: "waiting" | "loading" | "done" | "failed" | "cancelled";
  progress?: Progress;
  /** Why it failed. */
  failure?: { code: string; message: string };
}

/** A tokenizer that waits to be told which models it is for. */
export interface Undecided {
  source: Source;
  /** A guess, until the person has said otherwise. */
  pattern: string;
}

/** What the session says of itself. */
interface Listener {
  /** Something is to be drawn anew. */
  changed: () => void;
  failed: (failure: { code: string; message: string }) => void;
  loaded: (rollouts: number) => void;
  /** First rollouts, or a tokenizer, are there. */
  ready: () => void;
  /** The traces that are open make room for others. */
  closing: () => void;
  /** Something has to be decided. */
  asks: () => void;
  /** Other rollouts than before, or the same ones read with another tokenizer. */
  replaced: () => void;
  /** Rollouts that came, or have grown: their positions. */
  grown: (rollouts: number[]) => void;
}

/** What a promise of the engine is rejected with. */
export function failureOf(error: unknown): { code: string; message: string } {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return { code: typeof code === "string" ? code : "unexpected", message: String(message ?? error) };
}

/** Different ones: who has more has one reason for all of them. */
const MOST_PROBLEMS = 500;

const nameOfSource = (source: Source) => ("name" in source ? source.name : source.url);

export class Session {
  /** Only ever grows: when rows go away, it is another array. */
  rows: Row[] = [];
  /** Counts the changes of rows. */
  version = 0;
  isWhole = false;
  /** Counts the times that rows came of a source that is followed, or more of them. */
  growth = 0;
  /** Positions of rows that came so and were not in sight yet. */
  arrived = new Set<number>();
  /** Counts what changes how rollouts are read: traces, tokenizers. */
  revision = 0;
  tokenizers: TokenizerFacts[] = [];
  undecided: Undecided[] = [];
  loads: Load[] = [];
  problems: Problem[] = [];
  checked?: { done: number; total: number };
  kept: KeptTokenizer[] = [];
  /** Whether tokenizers that are loaded are kept in this browser. */
  keep = false;

  readonly live: Live;

  private facts = new ListFacts();
  private shownColumns: Column[] = [];
  private columnsOf = -1;
  private places = new Map<string, number>();
  private ids = 0;
  private opened = 0;
  /** Whether rows that were there are told anew. */
  private isRetold = false;
  private checks = 0;
  private queues: Record<Load["what"], Promise<void>> = { tokenizer: Promise.resolve(), traces: Promise.resolve() };

  constructor(
    readonly engine: Engine,
    private readonly tell: Listener,
  ) {
    this.live = new Live(engine, () => this.changed());
  }

  private changed(): void {
    this.tell.changed();
  }

  get scale(): Scale {
    return this.facts.scale;
  }

  /** Columns of the list that have something to say. */
  get columns(): Column[] {
    if (this.columnsOf !== this.version) {
      const columns = this.facts.columns();
      if (columns.map(({ id }) => id).join() !== this.shownColumns.map(({ id }) => id).join()) this.shownColumns = columns;
      this.columnsOf = this.version;
    }
    return this.shownColumns;
  }

  /** Position of the row with a key. */
  find(key: string | undefined): number | undefined {
    return key === undefined ? undefined : this.places.get(key);
  }

  /**
   * Loads tokenizers: one is for all models, of several each has to be told apart.
   *
   * @param sources With the patterns of those whose models are known.
   */
  async loadTokenizers(sources: { source: Source; pattern?: string }[]): Promise<void> {
    const known = sources.filter(({ pattern }) => pattern !== undefined);
    const unknown = sources.filter(({ pattern }) => pattern === undefined);
    const isOnly = unknown.length === 1 && known.length === 0 && this.tokenizers.length === 0 && this.undecided.length === 0;
    if (!isOnly) {
      this.undecided = [...this.undecided, ...unknown.map(({ source }) => ({ source, pattern: guessPattern(nameOfSource(source)) }))];
      if (unknown.length > 0) this.tell.asks();
      this.changed();
    }
    await Promise.all((isOnly ? unknown : known).map(({ source, pattern }) => this.loadTokenizer(source, pattern ?? "*")));
  }

  /** Loads one that waited. */
  async decide(undecided: Undecided): Promise<void> {
    this.dismiss(undecided);
    await this.loadTokenizer(undecided.source, undecided.pattern || "*");
  }

  dismiss(undecided: Undecided): void {
    this.undecided = this.undecided.filter((other) => other !== undecided);
    this.changed();
  }

  private async loadTokenizer(source: Source, pattern: string): Promise<void> {
    await this.load("tokenizer", nameOfSource(source), async (onProgress) => {
      const facts = await this.engine.loadTokenizer(source, { pattern, keep: this.keep }, onProgress);
      this.tokenizers = [...this.tokenizers.filter((other) => other.pattern !== facts.pattern), facts];
      this.revision++;
      this.tell.replaced();
      this.tell.ready();
      if (this.keep) await this.refreshKept();
      if (this.isWhole) void this.check();
    });
  }

  async openTraces(sources: Source[], add: boolean): Promise<void> {
    const name = sources.length === 1 ? nameOfSource(sources[0]!) : `${sources.length.toLocaleString("en")} files`;
    await this.open(name, add, (listener) => this.engine.openTraces(sources, { add }, listener));
  }

  async openSpans(spans: readonly unknown[]): Promise<void> {
    await this.open(`${spans.length.toLocaleString("en")} spans`, false, (listener) => this.engine.openSpans([...spans], listener));
  }

  private async open(name: string, add: boolean, run: (listener: OpenListener) => Promise<{ rollouts: number }>) {
    await this.load("traces", name, async (onProgress) => {
      const opened = ++this.opened;
      const isCurrent = () => opened === this.opened;
      if (!add) {
        this.tell.closing();
        this.clear();
      }
      this.isWhole = false;
      try {
        const { rollouts } = await run({
          onProgress,
          onRows: (from, rows, isComplete) => isCurrent() && this.setRows(from, rows, isComplete),
          onChanges: (rows) => isCurrent() && this.changeRows(rows),
          onFollowing: (following) => isCurrent() && this.live.tell(following),
          onProblem: (problem) => isCurrent() && this.addProblem(problem),
        });
        this.tell.loaded(rollouts);
      } finally {
        // What came before it was stopped stays.
        this.isWhole = true;
        void this.check();
      }
    });
  }

  private clear(): void {
    this.rows = [];
    this.places = new Map();
    this.facts = new ListFacts();
    this.problems = [];
    this.checked = undefined;
    this.arrived.clear();
    this.live.clear();
    this.version++;
    this.revision++;
    this.tell.replaced();
  }

  private setRows(from: number, rows: Row[], isComplete: boolean): void {
    const wasEmpty = this.rows.length === 0;
    if (from < this.rows.length) {
      // What was found may stand elsewhere now.
      if (this.isWhole) this.tell.replaced();
      this.isRetold ||= this.isWhole;
      for (const { key, at } of this.rows.slice(from)) if (this.places.get(key) === at) this.places.delete(key);
      this.rows = this.rows.slice(0, from);
    }
    this.put(rows);
    this.isWhole ||= isComplete;
    if (this.isRetold && isComplete) void this.check();
    if (isComplete) this.isRetold = false;
    if (wasEmpty && rows.length > 0) this.tell.ready();
    this.changed();
  }

  private changeRows(rows: Row[]): void {
    const wasEmpty = this.rows.length === 0;
    if (this.isWhole) for (const { at } of rows) if (!this.rows[at]) this.arrived.add(at);
    const grown = rows.filter(({ at, revision }) => revision !== this.rows[at]?.revision || !this.rows[at]).map(({ at }) => at);
    this.put(rows);
    this.growth++;
    if (wasEmpty && rows.length > 0) this.tell.ready();
    if (this.isWhole && grown.length > 0) this.tell.grown(grown);
    this.changed();
  }

  /** Puts rows where they stand in the list. */
  private put(rows: Row[]): void {
    for (const row of rows) {
      // Of rollouts with one key the first is meant.
      if (!this.places.has(row.key)) this.places.set(row.key, row.at);
      this.rows[row.at] = row;
    }
    this.facts.add(rows);
    this.version++;
  }

  private addProblem(problem: Problem): void {
    const alike = this.problems.find(({ source, code, message }) => source === problem.source && code === problem.code && message === problem.message);
    if (alike) this.problems = this.problems.map((other) => (other === alike ? { ...alike, count: alike.count + problem.count } : other));
    else if (this.problems.length < MOST_PROBLEMS) this.problems = [...this.problems, problem];
    // One with a path is about a part of the source; one without is about all of it.
    if (problem.path === undefined) this.tell.failed({ code: problem.code, message: problem.message });
    this.changed();
  }

  /** Looks at every rollout for findings, from the beginning. */
  private async check(): Promise<void> {
    const check = ++this.checks;
    try {
      await this.engine.cancel("check");
      await this.engine.checkAll((checked, done, total) => {
        if (check !== this.checks) return;
        // Into the rows that are there: a hundred thousand others would be cleared away while somebody looks at the list.
        const rows = checked.map(({ at, ...facts }) => Object.assign(this.rows[at]!, facts));
        this.facts.add(rows);
        this.checked = { done, total };
        this.version++;
        this.changed();
      });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code !== "aborted" && check === this.checks) this.tell.failed(failure);
    }
  }

  /** Runs one thing after the other of a kind, and tells how it goes. */
  private load(what: Load["what"], name: string, run: (onProgress: (progress: Progress) => void) => Promise<void>): Promise<void> {
    const load: Load = { id: ++this.ids, what, name, state: "waiting" };
    // What failed before is forgotten when the next is tried.
    this.loads = [...this.loads.filter((other) => other.what !== what || other.state === "loading" || other.state === "waiting"), load];
    this.changed();
    // Traces are read with the tokenizers that are on their way: reading them twice takes longer than waiting.
    const before = what === "traces" ? Promise.all(Object.values(this.queues)) : this.queues.tokenizer;
    const promise = before.then(async () => {
      if (load.state === "cancelled") return;
      load.state = "loading";
      this.changed();
      try {
        await run((progress) => {
          load.progress = progress;
          this.changed();
        });
        load.state = "done";
        this.loads = this.loads.filter((other) => other !== load);
      } catch (error) {
        const failure = failureOf(error);
        load.state = failure.code === "aborted" ? "cancelled" : "failed";
        load.failure = failure;
        if (load.state === "failed") this.tell.failed(failure);
      }
      this.changed();
    });
    this.queues[what] = promise;
    return promise;
  }

  async cancel(load: Load): Promise<void> {
    const wasRunning = load.state === "loading";
    if (wasRunning) return this.engine.cancel(load.what);
    this.loads = this.loads.filter((other) => other !== load);
    load.state = "cancelled";
    this.changed();
  }

  async refreshKept(): Promise<void> {
    this.kept = await this.engine.keptTokenizers().catch(() => []);
    this.changed();
  }

  async forgetKept(): Promise<void> {
    await this.engine.forgetTokenizers();
    await this.refreshKept();
  }
}

/** A pattern for models from where a file lay: `Qwen3-8B/tokenizer.json` is for `*Qwen3-8B*`. */
function guessPattern(name: string): string {
  const parts = name.split("/").filter(Boolean);
  const file = parts.pop() ?? "";
  const stem = file.replace(/\.gz$/i, "").replace(/\.(json|t2t)$/i, "");
  const model = stem.toLowerCase() === "tokenizer" ? parts.pop() : stem;
  return model ? `*${model}*` : "*";
}
