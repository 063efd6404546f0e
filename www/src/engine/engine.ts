/** What the worker does for the page. */
import { transfer } from "comlink";
import { Enricher, init, write, type SkippedPart, type SpanInput } from "token2text";
import { load } from "token2text/engines";
import type { CallTokens, Checked, Engine, Finding, Hit, KeptTokenizer, OnProgress, OpenListener, Query, RolloutDetail, Source, TokenizerFacts } from "./contract.js";
import { detailOf, tokensOf } from "./detail.js";
import { Drift } from "./drift.js";
import { failureOf } from "./errors.js";
import { indentJson } from "./indent.js";
import { Jobs, throttled, type Job, type JobName } from "./jobs.js";
import { MOST_BYTES, bytesOf } from "./reader.js";
import { bodiesToSave, enrichedName } from "./save.js";
import { Search } from "./search.js";
import type { Trace } from "./collector.js";
import type { Follower } from "./follower.js";
import { partsOf, sourceName, wholePart, type Part } from "./sources.js";
import { spanJson } from "./span-json.js";
import { WarmUp } from "./warm-up.js";
import { Tokenizers, forgetTokenizers, keptTokenizers } from "./tokenizers.js";
import { Traces, problemsOf, type Opened } from "./traces.js";

/** Rows in one message: so few that the page is not held up while it takes them in. */
const ROWS = 250;
/** Checked rows are told after so many milliseconds. */
const MILLIS = 100;
const OTLP = "application/x-protobuf";

export class WorkerEngine implements Engine {
  #jobs = new Jobs();
  #tokenizers = new Tokenizers();
  #traces = new Traces(this.#tokenizers);
  #search = new Search(this.#traces, this.#tokenizers);
  #drift = new Drift(this.#traces, this.#tokenizers);
  #warmUp = new WarmUp(this.#tokenizers);
  /** Of the traces that are open: with another tokenizer there may be other rollouts. */
  #listener: OpenListener | undefined;
  #followers = new Map<string, Follower>();
  #isFollowing = true;
  /** When the page has taken in the rows that it was sent last. */
  #taken: unknown;
  /** What changes the list, one after the other: the page is told of each before the next. */
  #last: Promise<unknown> = Promise.resolve();

  /** Fetches and compiles what the first file will need; what is asked for meanwhile comes first. */
  async warmUp(): Promise<void> {
    await init();
    await load("reader", "the viewer");
    await this.#warmUp.run();
  }

  async loadTokenizer(source: Source, options: { pattern?: string; keep?: boolean }, onProgress: OnProgress): Promise<TokenizerFacts> {
    const job = this.#jobs.begin("tokenizer");
    await init();
    const facts = await this.#tokenizers.load(source, options, throttledProgress(onProgress), job.signal);
    await this.#inTurn(async () => {
      const before = this.#traces.rows;
      this.#forget();
      this.#traces.use();
      const isSame = this.#traces.rows.length === before.length && this.#traces.rows.every(({ key }, at) => key === before[at].key);
      if (this.#listener && !isSame) await this.#tellRows(this.#listener, 0, true, job.signal);
    });
    void this.#warmUp.tokenizer();
    return facts;
  }

  keptTokenizers(): Promise<KeptTokenizer[]> {
    return keptTokenizers();
  }

  forgetTokenizers(): Promise<void> {
    return forgetTokenizers();
  }

  async openTraces(sources: Source[], { add = false }: { add?: boolean }, listener: OpenListener): Promise<{ rollouts: number; skipped: SkippedPart[] }> {
    const job = this.#begin(add, listener);
    const skipped: SkippedPart[] = [];
    for (const source of sources) {
      const name = sourceName(source);
      const onBytes = throttledProgress(listener.onProgress);
      try {
        await init();
        if (source.kind === "collector") {
          await this.#follow(name, source, ({ loaded }) => onBytes({ what: `Reading ${name}`, done: loaded }), job);
          continue;
        }
        const parts = partsOf(source, ({ loaded, total }) => onBytes({ what: `Reading ${name}`, done: loaded, total }), job.signal);
        skipped.push(...(await this.#openParts(parts, listener, job)));
      } catch (error) {
        if (job.signal.aborted) throw error;
        const { code, message } = failureOf(error);
        // A broken instance does not get better by going on.
        if (code === "internal") throw error;
        listener.onProblem({ source: name, code, message, count: 1 });
      }
    }
    await this.#taken;
    await listener.onRows(this.#traces.rows.length, [], true);
    return { rollouts: this.#traces.rows.length, skipped };
  }

  async openSpans(spans: unknown[], listener: OpenListener): Promise<{ rollouts: number; skipped: SkippedPart[] }> {
    await init();
    const bytes = await write(spans as SpanInput[], "otlp-proto");
    return this.openTraces([{ kind: "file", name: "spans", blob: new Blob([bytes]) }], {}, listener);
  }

  #begin(add: boolean, listener: OpenListener): Job {
    this.#warmUp.end();
    const job = this.#jobs.begin("traces");
    this.#forget();
    if (!add) {
      for (const follower of this.#followers.values()) follower.end();
      this.#followers.clear();
      this.#traces.clear();
    }
    this.#listener = listener;
    return job;
  }

  /** Reads all that a collector has; what comes later is read when it comes. */
  async #follow(name: string, { url, token }: { url: string; token?: string }, onBytes: (progress: { loaded: number }) => void, job: Job): Promise<void> {
    // Fetched when somebody needs it.
    const { Follower } = await import("./follower.js");
    const known = new Map<string, Opened>();
    const follower = new Follower(url, token, {
      onTraces: (traces, isNew, signal) => this.#take(name, traces, known, isNew, signal),
      onProblem: (code, message) => this.#listener?.onProblem({ source: name, code, message, count: 1 }),
      onState: (state) => this.#listener?.onFollowing({ source: name, url, ...state }),
    });
    await follower.readAll(onBytes, job.signal);
    this.#followers.get(name)?.end();
    this.#followers.set(name, follower);
    follower.follow(this.#isFollowing);
  }

  /** Traces that are new or have changed: only these are read, and only their rollouts are looked at. */
  #take(name: string, traces: Trace[], known: Map<string, Opened>, isNew: boolean, signal: AbortSignal): Promise<void> {
    return this.#inTurn(async () => {
      const listener = this.#listener!;
      const places: number[] = [];
      let hasMoved = false;
      for (const { traceId, bytes } of traces) {
        const before = known.get(traceId);
        try {
          const added = await this.#traces.add(wholePart({ name, trace: traceId, contentType: OTLP }, bytes), before, signal);
          known.set(traceId, added.opened);
          places.push(...added.opened.places);
          hasMoved ||= added.hasMoved;
          const problems = problemsOf(name, added.skipped.slice(before?.reader.skipped.length ?? 0));
          for (const problem of problems) listener.onProblem(problem);
        } catch (error) {
          if (signal.aborted) throw error;
          const { code, message } = failureOf(error);
          if (code === "internal") throw error;
          listener.onProblem({ source: name, code, message, count: 1 });
        }
      }
      // The list may be of other traces by now.
      signal.throwIfAborted();
      this.#search.forget(places);
      if (hasMoved) {
        this.#forget();
        return this.#tellRows(listener, 0, isNew, signal);
      }
      const tell = () => listener.onChanges(places.map((at) => this.#traces.rows[at]));
      await tell();
      if (!isNew) return;
      for (const at of places) this.#traces.check(at);
      await tell();
    });
  }

  async follow(isActive: boolean): Promise<void> {
    this.#isFollowing = isActive;
    for (const follower of this.#followers.values()) follower.follow(isActive);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** What was found in other traces, or with other tokenizers. */
  #forget(): void {
    this.#jobs.stop("check");
    this.#jobs.stop("search");
    this.#search.clear();
    this.#drift.clear();
  }

  async #openParts(parts: AsyncIterable<Part>, listener: OpenListener, job: Job): Promise<SkippedPart[]> {
    const skipped: SkippedPart[] = [];
    let beginning: Opened | undefined;
    for await (const part of parts) {
      const { origin, isBeginning } = part;
      await this.#inTurn(async () => {
        let added: Awaited<ReturnType<Traces["add"]>>;
        try {
          added = await this.#traces.add(part, beginning, job.signal);
        } catch (error) {
          // What is wrong with it, its whole will say.
          if (isBeginning && !job.signal.aborted) return;
          throw error;
        }
        const { opened, hasMoved } = added;
        beginning = isBeginning ? opened : undefined;
        await this.#tellRows(listener, hasMoved ? 0 : (opened.places[0] ?? this.#traces.rows.length), false, job.signal);
        // The page draws the first rows before the processor is needed for all of them.
        if (isBeginning) return void (await this.#taken);
        skipped.push(...added.skipped);
        for (const problem of problemsOf(origin.name, added.skipped)) listener.onProblem(problem);
      });
    }
    return skipped;
  }

  /** One batch after the other: the next is on its way while the page takes in one, and the worker goes on meanwhile. */
  async #tellRows(listener: OpenListener, from: number, isComplete: boolean, signal: AbortSignal): Promise<void> {
    const { rows } = this.#traces;
    for (let start = from; start === from || start < rows.length; start += ROWS) {
      signal.throwIfAborted();
      const end = Math.min(start + ROWS, rows.length);
      const before = this.#taken;
      this.#taken = listener.onRows(start, rows.slice(start, end), isComplete && end === rows.length);
      await before;
    }
  }

  async cancel(what: JobName): Promise<void> {
    this.#jobs.stop(what);
  }

  async checkAll(onChecked: (checked: Checked[], done: number, total: number) => void): Promise<void> {
    const job = this.#jobs.begin("check");
    const { rows } = this.#traces;
    let batch: Checked[] = [];
    let told = performance.now();
    for (let at = 0; at < rows.length; at++) {
      await job.breathe();
      if (!rows[at].findings) batch.push(this.#traces.check(at));
      if (batch.length < ROWS && at + 1 < rows.length && performance.now() - told < MILLIS) continue;
      await onChecked(batch, at + 1, rows.length);
      batch = [];
      told = performance.now();
    }
  }

  async rollout(at: number): Promise<RolloutDetail> {
    return detailOf(this.#traces, at);
  }

  async tokens(at: number, call: number): Promise<CallTokens> {
    const tokens = tokensOf(this.#traces, this.#tokenizers, at, call);
    const { ids, ends, flags, lines, numbers } = tokens;
    return transfer(tokens, [ids, ends, flags, lines, ...numbers.map(({ values }) => values)].map(({ buffer }) => buffer as ArrayBuffer));
  }

  async bytes(at: number, ids: Uint32Array): Promise<Uint8Array[]> {
    const tokenizer = this.#tokenizers.of(this.#traces.rollout(at).tokenizer);
    return Array.from(ids, (id) => tokenizer?.tokenText(id).bytes ?? new Uint8Array());
  }

  async raw(at: number, call: number): Promise<string> {
    const { reader, local } = this.#traces.place(at);
    return indentJson(spanJson(reader.span(local, call)));
  }

  async drift(at: number, onProgress: OnProgress): Promise<Finding[]> {
    return this.#drift.of(at, throttledProgress(onProgress));
  }

  search(query: Query, options: { rollouts?: number[]; limit: number }, onHits: (hits: Hit[], done: number, total: number) => void): Promise<{ hits: number; isWhole: boolean }> {
    return this.#search.run(query, options, this.#jobs.begin("search"), onHits);
  }

  async enriched(onProgress: OnProgress): Promise<{ name: string; blob: Blob }[]> {
    const enricher = new Enricher(this.#tokenizers.byPattern, { limits: { bodyBytes: MOST_BYTES } });
    const bodies = bodiesToSave(this.#traces.bodies);
    try {
      const texts = [];
      for (const [i, body] of bodies.entries()) {
        onProgress({ what: `Decoding ${body.name}`, done: i, total: bodies.length });
        const { body: text } = enricher.enrichBody(await bytesOf(body), { contentType: body.contentType, url: body.url ?? body.name });
        texts.push({ name: enrichedName(body), blob: new Blob([text]) });
      }
      return texts;
    } finally {
      enricher.free();
    }
  }
}

function throttledProgress(onProgress: OnProgress): OnProgress {
  return throttled(onProgress, ({ done, total }) => done === total);
}
