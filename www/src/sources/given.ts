/** Sources that the page around the viewer gives, by properties or in its address. */
import { nameOf } from "../address.js";
import type { Source } from "../engine/contract.js";

/** An address, or the file itself. */
export type TokenizerSource = string | URL | Blob;
export type TraceSource = string | URL | Blob;

type Patterned = { pattern?: string; url: string };

export function tokenizerSources(given: TokenizerSource | Record<string, TokenizerSource> | Patterned[]): { source: Source; pattern?: string }[] {
  if (Array.isArray(given)) {
    // One without a pattern is for all models that no other is for.
    return given.map(({ pattern, url }) => ({ source: sourceOf(url), pattern: pattern ?? "*" }));
  }
  if (isOne(given)) return [{ source: sourceOf(given), pattern: "*" }];
  return Object.entries(given).map(([pattern, source]) => ({ pattern, source: sourceOf(source) }));
}

export function traceSources(given: TraceSource | TraceSource[]): Source[] {
  return [given].flat().map(sourceOf);
}

export function collectorSources(given: (string | URL)[]): Source[] {
  return given.map((url) => ({ kind: "collector", url: new URL(url, document.baseURI).href }));
}

const isOne = (given: unknown): given is TokenizerSource => typeof given === "string" || given instanceof URL || given instanceof Blob;

function sourceOf(given: string | URL | Blob): Source {
  if (given instanceof Blob) return { kind: "file", name: given instanceof File ? given.name : "data", blob: given };
  const url = new URL(given, document.baseURI).href;
  return { kind: "url", name: nameOf(url), url };
}
