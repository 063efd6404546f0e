import type { Segment } from "../engine/contract.js";
import { messageAt, numberName, type Call } from "../rollout/calls.js";
import { segmentAt } from "./ranges.js";
import { plain } from "./safe-text.js";
import { numberText } from "./scale.js";
import { Flag, type TokenText } from "./token-text.js";

/** What is known of one token. */
export interface TokenFacts {
  position: number;
  id: number;
  text: string;
  bytes: Uint8Array | undefined;
  /** What its flags say. */
  notes: string[];
  segment: string | undefined;
  message: string | undefined;
  numbers: [name: string, value: string][];
}

const NOTES: [flag: number, note: string][] = [
  [Flag.special, "A special token."],
  [Flag.unknown, "The tokenizer has no token with this id."],
  [Flag.continues, "It begins inside a character that began before."],
  [Flag.byte, "It stands for one byte."],
  [Flag.unattributed, "The decoder changes its text with that of its neighbours."],
];

export function factsOf(token: number, text: TokenText, calls: readonly Call[], segments: readonly Segment[], bytes: Uint8Array | undefined): TokenFacts {
  const { call, ids, numbers } = text.tokens;
  const message = messageAt(calls, call, token);
  const notes = NOTES.filter(([flag]) => text.has(token, flag)).map(([, note]) => note);
  if (text.isCutOff(token)) notes.push("Its last character goes on in the next token.");
  return {
    position: token,
    id: ids[token]!,
    text: text.text(token),
    bytes,
    notes,
    segment: segmentAt(segments, token)?.kind,
    message: message && (message.role ?? "without a role"),
    numbers: numbers.map(({ name, values }) => [numberName(name), Number.isNaN(values[token]) ? "none" : numberText(values[token]!)]),
  };
}

/** The same for those who listen. */
export function spoken({ position, id, text, segment, numbers }: TokenFacts): string {
  return [`token ${position}`, `id ${id}`, plain(text, 60) || "no text", segment, ...numbers.map(([name, value]) => `${name} ${value}`)].filter(Boolean).join(", ");
}
