/** What the calls of a rollout are to one another. */
import type { Message, Rollout, Segment } from "../engine/contract.js";
import { rangeAt } from "../text/ranges.js";

export type Call = Rollout["calls"][number];

/** What a call is called, also when others come before it as its rollout grows. */
export function callKey({ spanId, path, index }: Call): string {
  return `${spanId ?? path} ${index ?? ""}`;
}

/** The same call in a rollout that has grown; nothing if it is gone. */
export function sameCall(before: readonly Call[], call: number | undefined, calls: readonly Call[]): number | undefined {
  const known = call === undefined ? undefined : before[call];
  const at = known ? calls.findIndex((other) => callKey(other) === callKey(known)) : -1;
  return at < 0 ? undefined : at;
}

/** The calls from the first one to this one, each going on from the one before. */
export function pathTo(calls: readonly Call[], call: number): number[] {
  const path: number[] = [];
  for (let at: number | undefined = call; at !== undefined && calls[at] && !path.includes(at); at = calls[at].parent) path.push(at);
  return path.reverse();
}

/** What is looked at where nothing is said: the last turn, with everything that came before it. */
export function usualCall(calls: readonly Call[]): number {
  const last = calls.findLastIndex(({ role }) => role === "turn");
  return last === -1 ? calls.length - 1 : last;
}

/** `turn 2`, counted among the turns; other roles by themselves. */
export function callName(calls: readonly Call[], call: number): string {
  const { role } = calls[call]!;
  let number = 0;
  for (let at = 0; at <= call; at++) if (calls[at]!.role === role) number++;
  const isOnly = role !== "turn" && calls.filter((other) => other.role === role).length === 1;
  return isOnly ? role : `${role} ${number}`;
}

/** The message that a token stands in; those that a call shares with its parent are the parent's. */
export function messageAt(calls: readonly Call[], call: number, token: number): Message | undefined {
  const path = pathTo(calls, call);
  for (let at = path.length - 1; at >= 0; at--) {
    const { messages, common } = calls[path[at]!]!;
    const found = rangeAt(messages, token);
    if (found) return found;
    if (token >= common) return undefined;
  }
  return undefined;
}

/** The messages that are new in a call. The first ones of a call may be those that its parent ended with, for a mark that follows. */
export function newMessages(calls: readonly Call[], call: number): Message[] {
  const { messages, parent, continued } = calls[call]!;
  const before = parent === undefined ? undefined : calls[parent]?.messages.at(-1);
  const [first] = messages;
  return before && first && first.tokens[0] < continued && isSame(before, first) ? messages.slice(1) : messages;
}

function isSame(before: Message, after: Message): boolean {
  return before.role === after.role && before.content.trim() === after.content.trim() && before.toolCalls?.length === after.toolCalls?.length;
}

const whole = new WeakMap<Call, readonly Segment[]>();

/** All segments of a call: where it begins with tokens of its parent, a detail has only those that follow. */
export function segmentsOf(calls: readonly Call[], call: number): readonly Segment[] {
  const own = calls[call]!;
  const known = whole.get(own);
  if (known) return known;
  const segments: Segment[] = [];
  for (const at of pathTo(calls, call)) {
    const { segments: fresh, common } = calls[at]!;
    const end = Math.min(fresh[0]?.tokens[0] ?? common, common);
    // From the end, so that a long conversation is not walked once for each turn.
    while (segments.length > 0 && segments.at(-1)!.tokens[0] >= end) segments.pop();
    const last = segments.at(-1);
    if (last && last.tokens[1] > end) segments[segments.length - 1] = { kind: last.kind, tokens: [last.tokens[0], end] };
    for (const segment of fresh) segments.push(segment);
  }
  whole.set(own, segments);
  return segments;
}

/** Names of the per-token numbers as people say them. */
export function numberName(name: string): string {
  return { logprobs: "logprob", log_probs: "logprob", entropys: "entropy", advantages: "advantage", returns: "return" }[name] ?? name;
}

const WHOLE = new Intl.NumberFormat("en-US");

/** Whole numbers with separators: `12,345`. */
export function count(value: number): string {
  return WHOLE.format(value);
}

/** `1 token`, `12 tokens`. */
export function tokenCount(value: number): string {
  return `${count(value)} ${value === 1 ? "token" : "tokens"}`;
}
