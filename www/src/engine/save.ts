/** Bodies as they are saved: a file for each that was opened, and for what is followed. */
import type { Body } from "./reader.js";

/** A file has no more bytes of traces. */
const MOST_BYTES = 256 << 20;

/** Traces of a source that is followed are bodies of their own; written one after the other they are one request. */
export function bodiesToSave(bodies: readonly Body[]): Body[] {
  const files: Body[] = bodies.filter(({ trace }) => trace === undefined);
  const followed = new Map<string, { parts: Blob[]; bytes: number }[]>();
  for (const { name, trace, content } of bodies) {
    if (trace === undefined) continue;
    const together = followed.get(name) ?? [];
    followed.set(name, together);
    let last = together.at(-1);
    if (!last || last.bytes + content.size > MOST_BYTES) together.push((last = { parts: [], bytes: 0 }));
    last.parts.push(content);
    last.bytes += content.size;
  }
  for (const [name, together] of followed) {
    for (const [at, { parts }] of together.entries()) {
      const number = together.length > 1 ? ` ${at + 1}` : "";
      files.push({ name: `${name.replaceAll(":", "-")}${number}.binpb`, contentType: "application/x-protobuf", content: new Blob(parts) });
    }
  }
  return files;
}

/** `calls.jsonl.gz` becomes `calls.text.jsonl`. */
export function enrichedName({ name }: Body): string {
  const [, stem, extension = ".jsonl"] = /^(.*?)(\.\w+)?$/s.exec(name.replace(/\.gz$/, ""))!;
  return `${stem.replaceAll("/", "-")}.text${extension}`;
}
