/** Re-tokenization. */
import type { Rollout, RolloutReader } from "token2text";
import type { Finding, OnProgress } from "./contract.js";
import { failure } from "./errors.js";
import { openBody, type Body } from "./reader.js";
import type { Tokenizers } from "./tokenizers.js";
import type { Traces } from "./traces.js";

const CODES = ["drift", "drift_unchecked", "special_as_text", "invalid_utf8"];

/** The body that was asked for last stays open with what encodes. */
export class Drift {
  #opened: { body: Body; pattern: string; reader: RolloutReader } | undefined;

  constructor(
    private readonly traces: Traces,
    private readonly tokenizers: Tokenizers,
  ) {}

  /** The traces or the tokenizers are others. */
  clear(): void {
    this.#opened?.reader.free();
    this.#opened = undefined;
  }

  async of(at: number, onProgress: OnProgress): Promise<Finding[]> {
    const { body, local } = this.traces.place(at);
    const { tokenizer: pattern = "" } = this.traces.rollout(at);
    if (this.#opened?.body !== body || this.#opened.pattern !== pattern) {
      this.clear();
      const tokenizer = await this.tokenizers.encoding(pattern, onProgress);
      try {
        this.#opened = { body, pattern, reader: await openBody(body.content, body, { [pattern]: tokenizer }, { drift: true }) };
      } finally {
        tokenizer.free();
      }
    }
    return rolloutOf(this.#opened.reader, this.traces.rollout(at), local).findings.filter(({ code }) => CODES.includes(code));
  }
}

/** The same rollout in another reader of its body. It may stand elsewhere: this one has not got the other tokenizers. */
function rolloutOf(reader: RolloutReader, wanted: Rollout, local: number): Rollout {
  const callsOf = ({ calls }: Rollout) => calls.map(({ path, index = "" }) => `${path} ${index}`).join("\n");
  const first = wanted.calls[0]?.path;
  const all = reader.overview().map(({ path }, at) => ({ path, at }));
  const alike = all.filter(({ path }) => path === first).sort((one, other) => Math.abs(one.at - local) - Math.abs(other.at - local));
  for (const { at } of alike) {
    const rollout = reader.rollout(at);
    if (callsOf(rollout) === callsOf(wanted)) return rollout;
  }
  throw failure("no_rollout", "With the tokenizer that encodes, the calls of this rollout do not belong together");
}
