/**
 * What is done for the first time takes longest: WebAssembly and JavaScript are compiled function by function at the first call, and
 * once more, for speed, when one is called often. So files are opened before somebody waits for one.
 */
import { nextTask } from "./jobs.js";
import { partsOf } from "./sources.js";
import type { Tokenizers } from "./tokenizers.js";
import { Traces, type Opened } from "./traces.js";

/** A file has so many rollouts of three turns, each so many ids: 2.5 MB, of which a beginning is opened first. */
const ROLLOUTS = 60;
const IDS = 500;
/** After so many files reading gets no faster. */
const FILES = 7;

export class WarmUp {
  #file: Blob | undefined;
  #left = 0;
  #over = new AbortController();

  constructor(private readonly tokenizers: Tokenizers) {}

  /** Opens files like those that will come, and lets other calls in between. */
  async run(files = FILES): Promise<void> {
    const isRunning = this.#left > 0;
    this.#left = Math.max(this.#left, files);
    if (isRunning) return;
    const { signal } = this.#over;
    try {
      for (; this.#left > 0 && !signal.aborted; this.#left--) {
        await nextTask();
        await this.#open(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#left = 0;
    }
  }

  /** There is another tokenizer: what reads rollouts gets it, and looks for its chat template. */
  async tokenizer(): Promise<void> {
    // What is wrong with it, the first file will say.
    await this.run(1).catch(() => {});
  }

  /** From now on there is real work. */
  end(): void {
    this.#over.abort();
    this.#file = undefined;
  }

  async #open(signal: AbortSignal): Promise<void> {
    this.#file ??= new Blob([lines()]);
    const traces = new Traces(this.tokenizers);
    try {
      let beginning: Opened | undefined;
      for await (const part of partsOf({ kind: "file", name: "warm-up", blob: this.#file }, () => {}, signal)) {
        const { opened } = await traces.add(part, beginning, signal);
        beginning = part.isBeginning ? opened : undefined;
      }
    } finally {
      traces.clear();
    }
  }
}

function lines(): string {
  const lines: string[] = [];
  for (let number = 0; number < ROLLOUTS; number++) {
    const prompt: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      prompt.push(...ids(number + turn));
      const answer = ids(number - turn);
      lines.push(
        JSON.stringify({
          name: "LLMServerClient.generate",
          inputs: { request_id: `${number}`, prompt_ids: prompt },
          outputs: { token_ids: answer, log_probs: answer.map((id) => -id / 1e5) },
          attributes: { step: 1, sample_index: number >> 2, rollout_n: number & 3, validate: false, experiment_name: "warm-up" },
        }),
      );
      prompt.push(...answer);
    }
  }
  return lines.join("\n");
}

function ids(seed: number): number[] {
  return Array.from({ length: IDS }, (_, at) => Math.abs((seed * 7919 + at * 104_729) % 150_000));
}
