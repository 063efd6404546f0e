/** WebAssembly is compiled function by function at the first call, and again when one is called often: before somebody waits for it. */
import { openRollouts } from "token2text";

/** Rollouts of three turns, each so many ids. */
const ROLLOUTS = 40;
const IDS = 500;

/** Reads a body like those that will come. */
export async function compileReader(): Promise<void> {
  const reader = await openRollouts(new TextEncoder().encode(body()), {});
  reader.overview();
  reader.free();
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
