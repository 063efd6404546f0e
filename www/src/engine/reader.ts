/** Bodies, opened. */
import { openRollouts, type RolloutReader, type Tokenizer } from "token2text";

/** What a body is besides its bytes. */
export interface Body {
  /** Name of the source. */
  name: string;
  bytes: Uint8Array;
  contentType?: string;
  url?: string;
  /** What MLflow's server says of the traces. */
  traceInfos?: Uint8Array;
}

/** Bytes of a body, at most. */
const LIMITS = { bodyBytes: 2 ** 30 };

export function openBody(body: Body, tokenizers: Record<string, Tokenizer>, drift = false): Promise<RolloutReader> {
  const { bytes, contentType, url = body.name, traceInfos } = body;
  return openRollouts(bytes, tokenizers, { contentType, url, traceInfos, limits: LIMITS, drift });
}
