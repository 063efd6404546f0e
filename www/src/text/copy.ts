/** Tokens as something to paste elsewhere. */
import type { Segment } from "../engine/contract.js";
import { rangeAt, type Range } from "./ranges.js";
import type { TokenText } from "./token-text.js";

export type CopyKind = "text" | "ids" | "json";

/** So many tokens are written between two looks at what else there is to do. */
const SLICE = 10_000;

export async function copyText(text: TokenText, segments: readonly Segment[], [start, end]: Range, kind: CopyKind): Promise<string> {
  if (kind === "text") return text.text(start, end);
  const { ids, numbers } = text.tokens;
  const parts: string[] = [];
  for (let from = start; from < end; from += SLICE) {
    const to = Math.min(from + SLICE, end);
    if (kind === "ids") parts.push(ids.subarray(from, to).join(", "));
    else {
      const lines: string[] = [];
      for (let token = from; token < to; token++) {
        const values = numbers.flatMap(({ name, values }) => (Number.isNaN(values[token]) ? [] : [[name, round(values[token]!)]]));
        lines.push(JSON.stringify({ position: token, id: ids[token], text: text.text(token), segment: rangeAt(segments, token)?.kind, ...Object.fromEntries(values) }));
      }
      parts.push(lines.join(",\n"));
    }
    if (to < end) await new Promise((resolve) => setTimeout(resolve));
  }
  return kind === "ids" ? `[${parts.join(", ")}]` : `[\n${parts.join(",\n")}\n]`;
}

/** A 32-bit float without the digits that only a 64-bit one has. */
function round(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(7)) : value;
}

/** Puts a text into the clipboard; also in pages that are not secure, where there is no clipboard of its own. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.setAttribute("aria-hidden", "true");
    area.style.position = "fixed";
    area.style.opacity = "0";
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}
