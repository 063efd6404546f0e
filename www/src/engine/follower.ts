/** Follows a collector: first all that it has, then what comes, and when it is lost, until it is back. */
import { Collector, Unreachable, type Trace } from "./collector.js";
import type { Following } from "./contract.js";
import { failure, failureOf } from "./errors.js";

interface Tell {
  /** `isNew`: they came while somebody looked on. */
  onTraces: (traces: Trace[], isNew: boolean, signal: AbortSignal) => Promise<void>;
  /** A trace could not be read. */
  onProblem: (code: string, message: string) => void;
  onState: (state: Pick<Following, "state" | "message" | "retryMillis">) => void;
}

/** Seconds that the collector holds a request that it has no answer to yet. */
const WAIT_SECONDS = 25;
/** Between two requests: so that many traces a second are few requests. */
const PACE_MILLIS = 200;
/** Until a collector that was lost is asked again: doubled each time. */
const FIRST_RETRY_MILLIS = 1000;
const LAST_RETRY_MILLIS = 30_000;

export class Follower {
  readonly #collector: Collector;
  #isEnded = false;
  /** What it waits for now is over when this is aborted. */
  #pause = new AbortController();

  constructor(
    url: string,
    token: string | undefined,
    private readonly tell: Tell,
  ) {
    this.#collector = new Collector(url, token);
  }

  /** Reads all that there is. @throws {Failure} If it cannot be read. */
  async readAll(onBytes: (progress: { loaded: number }) => void, signal: AbortSignal): Promise<void> {
    try {
      while (await this.#read(0, onBytes, false, signal));
    } catch (error) {
      throw error instanceof Unreachable ? failure("unreadable_source", `The collector cannot be read: ${error.message}`) : error;
    }
    this.tell.onState({ state: "live" });
  }

  /** Goes on, or stops until it is called again. What was lost is asked for at once. */
  follow(isActive: boolean): void {
    this.#pause.abort();
    this.#pause = new AbortController();
    if (isActive && !this.#isEnded) void this.#run(this.#pause.signal);
  }

  end(): void {
    this.#isEnded = true;
    this.follow(false);
  }

  async #run(signal: AbortSignal): Promise<void> {
    let tries = 0;
    let wait = 0;
    while (!signal.aborted) {
      try {
        await this.#read(wait, () => {}, true, signal);
        if (signal.aborted) return;
        // The first answer comes without waiting: it says that there is somebody.
        if (wait === 0) this.tell.onState({ state: "live" });
        tries = 0;
        wait = WAIT_SECONDS;
        await rest(PACE_MILLIS, signal);
      } catch (error) {
        if (signal.aborted) return;
        wait = 0;
        const longest = Math.min(LAST_RETRY_MILLIS, FIRST_RETRY_MILLIS * 2 ** tries++);
        // Many pages do not come back all at once.
        const retryMillis = Math.round(longest * (0.75 + Math.random() / 4));
        const { message } = error instanceof Unreachable ? error : failureOf(error);
        this.tell.onState({ state: "lost", message, retryMillis });
        await rest(retryMillis, signal);
      }
    }
  }

  /** Whether there was anything. */
  async #read(seconds: number, onBytes: (progress: { loaded: number }) => void, isNew: boolean, signal: AbortSignal): Promise<boolean> {
    let hasAny = false;
    for await (const traces of this.#collector.next(seconds, onBytes, this.tell.onProblem, signal)) {
      await this.tell.onTraces(traces, isNew, signal);
      hasAny = true;
    }
    return hasAny;
  }
}

function rest(millis: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, millis);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
