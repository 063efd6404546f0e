/** What is searched for, as a function that finds it. */
import { messageOf } from "token2text/errors";
import type { Query } from "./contract.js";
import { failure } from "./errors.js";
import { tokensOfText } from "./tokens.js";

/** Tokens with the text that they give. */
export interface Stretch {
  ids: Uint32Array;
  text: string;
  ends: Uint32Array;
}
/** Ranges of tokens of a stretch. */
export type Finder = (stretch: Stretch) => Iterable<[start: number, end: number]>;

/** @throws {Failure} `invalid_pattern` */
export function finderOf({ text, kind, matchCase }: Query): Finder {
  if (kind === "ids") {
    const ids = idsOf(text);
    return (stretch) => findIds(stretch.ids, ids);
  }
  if (text === "") throw failure("invalid_pattern", "There is nothing to search for");
  const pattern = expression(kind === "regex" ? text : text.replace(/[$()*+.?[\\\]^{|}/]/g, "\\$&"), matchCase);
  return (stretch) => findText(stretch, pattern);
}

function expression(source: string, matchCase: boolean): RegExp {
  const flags = `gm${matchCase ? "" : "i"}`;
  try {
    // Whole characters, unless the pattern has an escape that is none there.
    return new RegExp(source, `${flags}u`);
  } catch {
    try {
      return new RegExp(source, flags);
    } catch (error) {
      // The engine's words stand behind the pattern and its flags.
      throw failure("invalid_pattern", `This is no regular expression: ${messageOf(error).replace(/^.*\/[a-z]*: /s, "")}`);
    }
  }
}

function idsOf(text: string): number[] {
  const words = text.split(/[\s,[\]()]+/).filter(Boolean);
  const ids = words.map(Number);
  const wrong = words.find((word, i) => !/^\d+$/.test(word) || ids[i] > 0xffffffff);
  if (wrong !== undefined) throw failure("invalid_pattern", `"${wrong}" is no token id. Ids are whole numbers, with spaces or commas between them`);
  if (ids.length === 0) throw failure("invalid_pattern", "There are no ids to search for");
  return ids;
}

function* findText({ text, ends }: Stretch, pattern: RegExp): Generator<[number, number]> {
  for (const match of text.matchAll(pattern)) {
    // What matches nothing is nowhere.
    if (match[0].length > 0) yield tokensOfText(ends, match.index, match.index + match[0].length);
  }
}

function* findIds(ids: Uint32Array, wanted: number[]): Generator<[number, number]> {
  for (let at = ids.indexOf(wanted[0]); at !== -1; at = ids.indexOf(wanted[0], at + 1)) {
    if (wanted.every((id, i) => ids[at + i] === id)) yield [at, at + wanted.length];
  }
}
