/** The page's side of the engine. A worker that ends is replaced, and what was open in it is opened again. */
import { proxy, wrap, type Remote } from "comlink";
import { startEngine } from "token2text/viewer-worker";
import type { Engine, OpenListener, Source } from "./contract.js";
import type { WorkerEngine } from "./engine.js";
import { failure, failureOf, type Failure } from "./errors.js";
import type { JobName } from "./jobs.js";

/** How long a worker has to stop what it does before it is ended. */
const PATIENCE = 2000;
/** After this a worker is not to be trusted: WebAssembly has trapped, for want of memory or by a bug. */
const BROKEN = "internal";
/** The worker ended before it answered. */
const LOST = "instance_lost";
const REOPENED = "The worker had to be started again, and what was open was opened again.";

interface Opening {
  open: (engine: Remote<WorkerEngine>, listener: OpenListener) => Promise<unknown>;
  listener: OpenListener;
}
interface Loading {
  source: Source;
  options: { pattern?: string; keep?: boolean };
}

/** One worker. */
interface Running {
  worker: Worker;
  engine: Remote<WorkerEngine>;
  hasAnswered: boolean;
  /** Rejected when it ends. */
  ended: Promise<never>;
  end: (why: Failure) => void;
}

/** Starts the engine. Its worker is started when the page has nothing else to do, or at the first call. */
export function connectEngine(): Engine & { dispose(): void } {
  const client = new Client();
  whenIdle(() => client.call((engine) => engine.warmUp()).catch(() => {}));
  const { again, job } = client;
  return {
    dispose: () => client.dispose(),
    loadTokenizer: (source, options, onProgress) => client.loadTokenizer({ source: resolved(source), options }, onProgress),
    keptTokenizers: () => again((engine) => engine.keptTokenizers()),
    forgetTokenizers: () => again((engine) => engine.forgetTokenizers()),
    openTraces: (given, options, listener) => {
      const sources = given.map(resolved);
      return client.open(options.add === true, { open: (engine, told) => engine.openTraces(sources, options, proxy(told)), listener }) as ReturnType<Engine["openTraces"]>;
    },
    openSpans: (spans, listener) => client.open(false, { open: (engine, told) => engine.openSpans(spans, proxy(told)), listener }) as ReturnType<Engine["openSpans"]>,
    follow: (isActive) => client.follow(isActive),
    cancel: (what) => client.cancel(what),
    checkAll: (onChecked) => job("check", (engine) => engine.checkAll(proxy(onChecked))),
    rollout: (at) => again((engine) => engine.rollout(at)),
    tokens: (at, of) => again((engine) => engine.tokens(at, of)),
    bytes: (at, ids) => again((engine) => engine.bytes(at, ids)),
    raw: (at, of) => again((engine) => engine.raw(at, of)),
    drift: (at, onProgress) => again((engine) => engine.drift(at, proxy(onProgress))),
    search: (query, options, onHits) => job("search", (engine) => engine.search(query, options, proxy(onHits))),
    enriched: (onProgress) => again((engine) => engine.enriched(proxy(onProgress))),
  };
}

class Client {
  #running: Running | undefined;
  /** Done when what was open is open again. */
  #restored: Promise<void> = Promise.resolve();
  #tokenizers = new Map<string, Loading>();
  #openings: Opening[] = [];
  #isFollowing = true;
  /** Whose worker had to be ended. */
  #stopped = new Set<JobName>();

  /** Calls the worker when it has everything open. Rejected with a `Failure`. */
  call = async <T>(work: (engine: Remote<WorkerEngine>) => Promise<T>): Promise<T> => {
    await this.#restored;
    return this.#ask(work);
  };

  /** The same for what may be asked twice: when the worker ended because of something else, it is. */
  again = async <T>(work: (engine: Remote<WorkerEngine>) => Promise<T>): Promise<T> => {
    try {
      return await this.call(work);
    } catch (error) {
      if (failureOf(error).code !== LOST) throw error;
      return this.call(work);
    }
  };

  /** The same for what can be stopped. */
  job = async <T>(name: JobName, work: (engine: Remote<WorkerEngine>) => Promise<T>): Promise<T> => {
    this.#stopped.delete(name);
    try {
      return await this.call(work);
    } catch (error) {
      throw failureOf(error).code === LOST && this.#stopped.has(name) ? failure("aborted", "It was stopped") : error;
    }
  };

  async loadTokenizer(loading: Loading, onProgress: Parameters<Engine["loadTokenizer"]>[2]): ReturnType<Engine["loadTokenizer"]> {
    const facts = await this.job("tokenizer", (engine) => engine.loadTokenizer(loading.source, loading.options, proxy(onProgress)));
    this.#tokenizers.set(facts.pattern, loading);
    return facts;
  }

  async open(add: boolean, opening: Opening): Promise<unknown> {
    if (!add) this.#openings = [];
    try {
      const answer = await this.job("traces", (engine) => this.#openIn(engine, opening));
      this.#openings.push(opening);
      return answer;
    } catch (error) {
      // What was read until it was stopped stays open.
      if (failureOf(error).code === "aborted" && this.#running) this.#openings.push(opening);
      throw error;
    }
  }

  async follow(isActive: boolean): Promise<void> {
    this.#isFollowing = isActive;
    await this.#running?.engine.follow(isActive);
  }

  /** A worker that is new does not know yet whether anybody looks. Calls are done in their order, and nobody waits for this one. */
  async #openIn(engine: Remote<WorkerEngine>, { open, listener }: Opening): Promise<unknown> {
    const [, opened] = await Promise.all([engine.follow(this.#isFollowing), open(engine, listener)]);
    return opened;
  }

  async cancel(what: JobName): Promise<void> {
    const running = this.#running;
    if (!running) return;
    const end = () => {
      this.#stopped.add(what);
      this.#replace(running, failure(LOST, `The worker did not stop by itself. ${REOPENED}`));
    };
    const timer = setTimeout(end, PATIENCE);
    await Promise.race([running.engine.cancel(what), running.ended.catch(() => {})]).finally(() => clearTimeout(timer));
  }

  dispose(): void {
    this.#running?.end(failure("aborted", "The viewer is gone"));
    this.#running = undefined;
  }

  async #ask<T>(work: (engine: Remote<WorkerEngine>) => Promise<T>): Promise<T> {
    const running = (this.#running ??= start((why) => this.#replace(running, why)));
    try {
      const answer = await Promise.race([work(running.engine), running.ended]);
      running.hasAnswered = true;
      return answer;
    } catch (error) {
      const { code, message } = failureOf(error);
      running.hasAnswered ||= code !== LOST;
      if (code !== BROKEN) throw failure(code, message);
      this.#replace(running, failure(LOST, `${message}. ${REOPENED}`));
      throw failure(code, `${message}. ${REOPENED}`);
    }
  }

  /** Ends a worker; another opens what was open, unless this one never worked. */
  #replace(running: Running, why: Failure): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    running.end(why);
    if (running.hasAnswered) this.#restored = this.#restore();
  }

  async #restore(): Promise<void> {
    const [tokenizers, openings] = [[...this.#tokenizers.values()], this.#openings];
    this.#openings = [];
    try {
      for (const { source, options } of tokenizers) await this.#ask((engine) => engine.loadTokenizer(source, { ...options, keep: false }, proxy(() => {})));
      for (const opening of openings) {
        await this.#ask((engine) => this.#openIn(engine, opening));
        this.#openings.push(opening);
      }
    } catch (error) {
      const { code, message } = failureOf(error);
      for (const { listener } of openings) listener.onProblem({ source: "viewer", code, message: `The files could not be opened again: ${message}`, count: 1 });
    }
  }
}

function start(onEnd: (why: Failure) => void): Running {
  const worker = startEngine();
  let reject: (why: Failure) => void = () => {};
  const ended = new Promise<never>((_, fail) => (reject = fail));
  // Calls that wait are told; without one nobody needs to know.
  ended.catch(() => {});
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    onEnd(failure(LOST, event.message ? `The worker failed: ${event.message}. ${REOPENED}` : "The worker could not be started: its script is missing, or the page's Content-Security-Policy forbids it"));
  });
  const end = (why: Failure) => {
    worker.terminate();
    reject(why);
  };
  return { worker, engine: wrap<WorkerEngine>(worker), hasAnswered: false, ended, end };
}

/** Addresses are those of the page: the worker's script may come from elsewhere. What is no address is told by the worker. */
function resolved(source: Source): Source {
  return "url" in source && URL.canParse(source.url, document.baseURI) ? { ...source, url: new URL(source.url, document.baseURI).href } : source;
}

/** Does something when the page has nothing else to do. */
export function whenIdle(work: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(work, { timeout: 2000 });
  else setTimeout(work, 200);
}
