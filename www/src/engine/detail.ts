/** One rollout as the page draws it. */
import type { RolloutCall, Segment } from "token2text";
import type { CallTokens, RolloutDetail } from "./contract.js";
import { seconds } from "./rows.js";
import type { Tokenizers } from "./tokenizers.js";
import { lineStarts } from "./tokens.js";
import type { Traces } from "./traces.js";

export function detailOf(traces: Traces, at: number): RolloutDetail {
  const { reader, local } = traces.place(at);
  const rollout = traces.rollout(at);
  const told = reader.spans(local);
  const zero = told.reduce<string | undefined>((least, { startUnixNano: start }) => (start !== undefined && (least === undefined || BigInt(start) < BigInt(least)) ? start : least), undefined);
  const spans = told.map(({ startUnixNano, endUnixNano, ...span }) => {
    const [start, end] = [seconds(zero, startUnixNano), seconds(zero, endUnixNano)];
    return { ...span, time: start === undefined || end === undefined ? undefined : { start, end } };
  });
  const times = rollout.calls.map((_, call) => spans.find(({ calls }) => calls.includes(call))?.time);
  const numbers = [...new Set(reader.numbers(local).flat().map(({ name }) => name))];
  // The ids come with the tokens.
  const calls = rollout.calls.map((call) => ({ ...call, ids: new Uint32Array(), segments: freshSegments(call) }));
  return { at, rollout: { ...rollout, calls }, reward: rollout.reward, times, spans, numbers };
}

export function tokensOf(traces: Traces, tokenizers: Tokenizers, at: number, call: number): CallTokens {
  const { reader, local } = traces.place(at);
  const rollout = traces.rollout(at);
  const ids = rollout.calls[call].ids.slice();
  const { text, ends, flags } = tokenizers.of(rollout.tokenizer)?.pieces(ids) ?? { text: "", ends: new Uint32Array(ids.length), flags: new Uint8Array(ids.length) };
  // To be drawn, half the digits are enough.
  const numbers = reader.numbers(local)[call].map(({ name, values }) => ({ name, values: Float32Array.from(values) }));
  return { call, ids, text, ends, flags, lines: lineStarts(text, ends), numbers };
}

/** Those that it does not have from its parent: of a long conversation all would be as many as the square of its turns. */
function freshSegments({ parent, common, segments }: RolloutCall): Segment[] {
  return parent === undefined ? segments : segments.filter(({ tokens }) => tokens[1] > common);
}
