/**
 * WebAssembly is compiled function by function at the first call, and once more, for speed, when one is called often: before somebody
 * waits for it.
 */
import { openRollouts } from "token2text";
import { nextTask } from "./jobs.js";
import type { Tokenizers } from "./tokenizers.js";

/** A body has so many rollouts of three turns, each so many ids: it is read in a few milliseconds, for which a call may have to wait. */
const ROLLOUTS = 10;
const IDS = 500;
/** After so many bodies, some 17 MB, reading gets no faster. */
const BODIES = 40;

export class WarmUp {
  #body = new Uint8Array();
  #left = 0;
  #isOver = false;

  constructor(private readonly tokenizers: Tokenizers) {}

  /** Reads bodies like those that will come, and lets other calls in between. */
  async run(bodies = BODIES): Promise<void> {
    const isRunning = this.#left > 0;
    this.#left = Math.max(this.#left, bodies);
    if (isRunning) return;
    try {
      for (; this.#left > 0; this.#left--) {
        await nextTask();
        if (this.#isOver) return;
        await this.#read();
      }
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
    this.#isOver = true;
  }

  async #read(): Promise<void> {
    if (this.#body.length === 0) this.#body = new TextEncoder().encode(body());
    const reader = await openRollouts(this.#body, this.tokenizers.byPattern);
    reader.overview();
    reader.free();
  }
}

function body(): string {
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
