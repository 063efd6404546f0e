/** What a token of a call says. */
import type { CallTokens } from "../engine/contract.js";
import { above } from "./ranges.js";

/** The bits of `PieceFlag` of the package. */
export const Flag = { special: 1, unknown: 2, continues: 4, byte: 8, unattributed: 16 } as const;

export class TokenText {
  constructor(readonly tokens: CallTokens) {}

  get count(): number {
    return this.tokens.ids.length;
  }

  /** Whether there is a text at all: without a tokenizer there are only ids. */
  get hasText(): boolean {
    return this.tokens.text !== "";
  }

  /** Where the text of a token begins. */
  start(token: number): number {
    return token === 0 ? 0 : this.tokens.ends[token - 1]!;
  }

  /** The text of the tokens `[start, end)`. */
  text(start: number, end = start + 1): string {
    return end <= start ? "" : this.tokens.text.slice(this.start(start), this.tokens.ends[end - 1]);
  }

  has(token: number, flag: number): boolean {
    return (this.tokens.flags[token]! & flag) !== 0;
  }

  /** The token that owns the character at a position of the text. */
  at(offset: number): number {
    return Math.min(above(this.tokens.ends, offset), this.count - 1);
  }

  /** Whether its text alone does not say what it is: a part of a character, an id without a token. */
  isPartial(token: number): boolean {
    return this.has(token, Flag.continues | Flag.byte | Flag.unattributed) || this.isCutOff(token) || this.text(token).includes("\ufffd");
  }

  /** Whether the next token begins inside its last character. */
  isCutOff(token: number): boolean {
    return token + 1 < this.count && this.has(token + 1, Flag.continues);
  }
}

/** The bytes as hexadecimal digits: `e2 80 94`. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
