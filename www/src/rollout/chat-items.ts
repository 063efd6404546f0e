/** The conversation up to a call as a list of things to draw. */
import type { Message, RolloutDetail, Segment } from "../engine/contract.js";
import { overlap, type Range } from "../text/ranges.js";
import { callKey, newMessages, pathTo } from "./calls.js";

export type ChatItem =
  | { kind: "turn"; key: string; call: number }
  | { kind: "common"; key: string; call: number; isOpen: boolean }
  | { kind: "divergence"; key: string; call: number }
  /** `isOld`: of the common part, which an earlier call has. `of` is the call whose tokens the message's are. */
  | { kind: "message"; key: string; call: number; of: number; message: Message; isOld: boolean }
  /** Text by segments, where there are no messages. */
  | { kind: "segment"; key: string; call: number; segment: Segment }
  | { kind: "nothing"; key: string; call: number };

/** @param open Keys of common parts that are unfolded. */
export function chatItems({ rollout: { calls } }: RolloutDetail, call: number, open: ReadonlySet<string>): ChatItem[] {
  const items: ChatItem[] = [];
  const path = pathTo(calls, call);
  path.forEach((at, position) => {
    const { common, continued, parent, divergence, segments, role } = calls[at]!;
    const name = callKey(calls[at]!);
    items.push({ kind: "turn", key: `t${name}`, call: at });
    if (parent !== undefined && common > 0) {
      const key = `c${name}`;
      const isOpen = open.has(key);
      items.push({ kind: "common", key, call: at, isOpen });
      if (isOpen) {
        for (const of of path.slice(0, position)) {
          newMessages(calls, of).forEach((message, number) => {
            if (message.tokens[0] < common) items.push({ kind: "message", key: `o${name}-${of}-${number}`, call: at, of, message, isOld: true });
          });
        }
      }
    }
    if (divergence) items.push({ kind: "divergence", key: `d${name}`, call: at });
    const messages = newMessages(calls, at);
    messages.forEach((message, number) => items.push({ kind: "message", key: `m${name}-${number}`, call: at, of: at, message, isOld: false }));
    if (messages.length > 0) return;
    const from = role === "copy" ? 0 : continued;
    const left = segments.filter(({ tokens }) => tokens[1] > from).map(({ kind, tokens }): Segment => ({ kind, tokens: [Math.max(tokens[0], from), tokens[1]] }));
    left.forEach((segment) => items.push({ kind: "segment", key: `s${name}-${segment.tokens[0]}`, call: at, segment }));
    if (left.length === 0) items.push({ kind: "nothing", key: `n${name}`, call: at });
  });
  return items;
}

/** The item that shows tokens of a call: in the call itself, or in the one before from which it has them. */
export function itemAt({ rollout: { calls } }: RolloutDetail, items: readonly ChatItem[], call: number, tokens: Range): number {
  const path = pathTo(calls, call);
  for (let position = path.length - 1; position >= 0; position--) {
    const at = path[position]!;
    const found = items.findIndex((item) => (item.kind === "message" ? !item.isOld && item.of === at && overlap(item.message.tokens, tokens) : item.kind === "segment" && item.call === at && overlap(item.segment.tokens, tokens)));
    if (found >= 0) return found;
    if (tokens[0] >= calls[at]!.common) return items.findIndex((item) => item.call === at && item.kind !== "turn");
  }
  return -1;
}
