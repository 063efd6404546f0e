/** Work that can be stopped, and that lets other calls in between. */
import { failure } from "./errors.js";

export type JobName = "tokenizer" | "traces" | "check" | "search";

/** Milliseconds of work between two looks at what else there is to do. */
const SLICE = 20;

/** At most one job of each name runs: a new one stops the one before it. */
export class Jobs {
  #running = new Map<JobName, AbortController>();

  begin(name: JobName): Job {
    this.stop(name);
    const controller = new AbortController();
    this.#running.set(name, controller);
    return new Job(controller.signal);
  }

  stop(name: JobName): void {
    this.#running.get(name)?.abort(failure("aborted", "It was stopped"));
    this.#running.delete(name);
  }
}

/** A job is written as a loop that calls `breathe` at each step. */
export class Job {
  #since = performance.now();

  constructor(readonly signal: AbortSignal) {}

  /** Throws if the job was stopped; lets other calls in when its time is used up. */
  async breathe(): Promise<void> {
    this.signal.throwIfAborted();
    if (performance.now() - this.#since < SLICE) return;
    await nextTask();
    this.#since = performance.now();
    this.signal.throwIfAborted();
  }
}

/** Lets other calls in. By a message, since timers wait four milliseconds when one calls for the next. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Passes on at most one call in so many milliseconds, and each that `isLast`. */
export function throttled<T>(send: (value: T) => void, isLast: (value: T) => boolean, millis = 50): (value: T) => void {
  let sent = -Infinity;
  return (value) => {
    const now = performance.now();
    if (now - sent < millis && !isLast(value)) return;
    sent = now;
    send(value);
  };
}
