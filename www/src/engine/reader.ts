/** Bodies, opened. */
import { openRollouts, type RolloutReader, type Source, type Tokenizer } from "token2text";
import { readSource } from "token2text/source";

/** Where a body comes from. */
export interface Origin {
  /** Name of the source. */
  name: string;
  contentType?: string;
  url?: string;
  /** What MLflow's server says of the traces. */
  traceInfos?: Uint8Array;
  /** Id of the trace that it is, in a source that is followed. */
  trace?: string;
}

/** A body that was opened, to be read again. */
export interface Body extends Origin {
  /** Its bytes, which may be gzip. */
  content: Blob;
}

/** Bytes of a body, at most. */
export const MOST_BYTES = 2 ** 30;

export function openBody(source: Source, origin: Origin, tokenizers: Record<string, Tokenizer>, { signal, drift = false }: { signal?: AbortSignal; drift?: boolean } = {}): Promise<RolloutReader> {
  const { name, contentType, url = name, traceInfos } = origin;
  return openRollouts(source, tokenizers, { contentType, url, traceInfos, limits: { bodyBytes: MOST_BYTES }, drift, signal });
}

export function bytesOf({ content }: Body): Promise<Uint8Array> {
  return readSource(content, { what: "trace", limit: MOST_BYTES });
}
