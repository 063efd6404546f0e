/** A span as one JSON text, its parts as they stand in the trace. */
import type { Span } from "token2text";

/** In this order; of these the text is JSON already. */
const TEXTS = ["inputs", "output", "attributes", "events"] as const;

export function spanJson(span: Omit<Span, "fields">): string {
  const { inputs: _1, output: _2, attributes: _3, events: _4, ...facts } = span;
  const members = Object.entries(facts).filter(([, value]) => value !== undefined).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  for (const name of TEXTS) if (span[name] !== undefined) members.push(`"${name}":${span[name]}`);
  return `{${members.join(",")}}`;
}
