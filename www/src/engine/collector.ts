/** What a collector with a store gives to read: which traces have changed since, and all spans of each. */
import { groupBy, joinSpans, splitSpans } from "token2text/exporters/otlp-request";
import { failure } from "./errors.js";
import { MOST_BYTES } from "./reader.js";

export interface Trace {
  traceId: string;
  /** An OTLP request. */
  bytes: Uint8Array;
}
interface Changed {
  traceId: string;
  /** Of the bodies that its spans are in. */
  bytes: number;
}
type OnBytes = (progress: { loaded: number }) => void;

/** Traces that are asked for at once: so many at most, which is the server's limit, and so many bytes of bodies. */
const MOST_TRACES = 50;
const BATCH_BYTES = 64 << 20;
/** What an answer has not got, in a header. */
const MISSING = "token2text-missing";
/** An answer that takes so much longer than it was to wait for will not come. */
const PATIENCE_SECONDS = 30;
/** A server says by these that it may be asked again. */
const AGAIN = new Set([408, 425, 429, 500, 502, 503, 504]);

/** There is nothing at that path. */
const GONE = "no_such_trace";

/** The collector cannot be asked now, and perhaps later. */
export class Unreachable extends Error {}

export class Collector {
  /** Traces that changed up to here were read. */
  #position = 0;
  #loaded = 0;
  readonly #url: string;

  constructor(
    url: string,
    private readonly token: string | undefined,
  ) {
    this.#url = url.replace(/\/+$/, "").replace(/\/v1\/traces$/, "");
  }

  /**
   * The next traces that are new or have changed, each whole, a few at a time; none if there are none within so many seconds. Only when
   * all were taken it goes on behind them.
   *
   * @throws {Unreachable} If it may be asked again.
   * @throws {Failure} If it is no collector with a store, or does not let anybody read.
   */
  async *next(seconds: number, onBytes: OnBytes, onProblem: (code: string, message: string) => void, signal: AbortSignal): AsyncGenerator<Trace[]> {
    const query = new URLSearchParams({ after: `${this.#position}`, limit: `${MOST_TRACES}`, wait: `${seconds}` });
    const { traces, next } = await this.#get(`?${query}`, seconds, signal, async (response) => {
      const text = await response.text();
      return (text.startsWith("{") ? JSON.parse(text) : {}) as { traces?: Changed[]; next?: number };
    });
    if (!Array.isArray(traces) || typeof next !== "number") throw failure("refused", `There is no collector with a store at ${this.#url}: it answers otherwise`);
    for (const batch of batches(traces)) yield await this.#traces(batch, onBytes, onProblem, signal);
    this.#position = next;
  }

  /** Of traces that cannot be given together, those that can be given alone. */
  async #traces(traceIds: string[], onBytes: OnBytes, onProblem: (code: string, message: string) => void, signal: AbortSignal): Promise<Trace[]> {
    try {
      const bytes = await this.#get(`/${traceIds.join(",")}?raw=true`, 0, signal, async (response) => {
        for (const reason of leftOut(response.headers.get(MISSING))) onProblem("left_out", `Spans of the store cannot be given: ${reason}`);
        return new Uint8Array(await response.arrayBuffer());
      });
      if (bytes.length > MOST_BYTES) throw failure("limit_exceeded", `The traces ${traceIds.join(", ")} have more than 1 GiB`);
      onBytes({ loaded: (this.#loaded += bytes.length) });
      return groupBy(splitSpans(bytes), ({ traceId }) => traceId).map(([traceId, spans]) => ({ traceId, bytes: joinSpans(spans) }));
    } catch (error) {
      if (error instanceof Unreachable || signal.aborted) throw error;
      if (traceIds.length > 1) {
        const alone: Trace[] = [];
        for (const traceId of traceIds) alone.push(...(await this.#traces([traceId], onBytes, onProblem, signal)));
        return alone;
      }
      const { code = "unreadable_source", message } = error as { code?: string; message: string };
      // It went out of the store since it was named.
      if (code === GONE) return [];
      onProblem(code, `The trace ${traceIds[0]} could not be read: ${message}`);
      return [];
    }
  }

  async #get<T>(path: string, seconds: number, signal: AbortSignal, read: (response: Response) => Promise<T>): Promise<T> {
    const url = `${this.#url}/v1/traces${path}`;
    const stop = new AbortController();
    const abort = () => stop.abort();
    const timer = setTimeout(abort, (seconds + PATIENCE_SECONDS) * 1000);
    signal.addEventListener("abort", abort);
    try {
      const response = await fetch(url, { signal: stop.signal, headers: this.token ? { authorization: `Bearer ${this.token}` } : {} });
      if (response.ok) return await read(response);
      const { status } = response;
      if (AGAIN.has(status)) throw new Unreachable(`it answers ${status}`);
      throw failure(status === 404 ? GONE : "refused", this.#wordsOf(status));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof TypeError) && !stop.signal.aborted) throw error;
      throw new Unreachable(stop.signal.aborted ? "it does not answer" : `it cannot be reached${this.#hint()}`);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    }
  }

  #wordsOf(status: number): string {
    if (status === 401) return `The collector at ${this.#url} asks for its token`;
    if (status === 404 || status === 405) return `There is no collector with a store at ${this.#url}: it is started with --receive and --store`;
    return `The collector at ${this.#url} answers ${status}`;
  }

  /** A browser does not tell a page which of these it was. */
  #hint(): string {
    const isForeign = new URL(this.#url).origin !== location.origin;
    return isForeign ? `; or it does not let this page read, for which it is started with --allow-origin ${location.origin}` : "";
  }
}

/** Few enough to be asked for at once. */
function batches(traces: readonly Changed[]): string[][] {
  const all: string[][] = [];
  let batch: string[] = [];
  let bytes = 0;
  for (const { traceId, bytes: more } of traces) {
    if (batch.length === 0 || batch.length === MOST_TRACES || bytes + more > BATCH_BYTES) {
      all.push((batch = []));
      bytes = 0;
    }
    batch.push(traceId);
    bytes += more;
  }
  return all;
}

/** Why bodies are left out of an answer. */
function leftOut(header: string | null): string[] {
  const { leftOut = [] } = JSON.parse(header ?? "{}") as { leftOut?: { reason: string }[] };
  return leftOut.map(({ reason }) => reason);
}
