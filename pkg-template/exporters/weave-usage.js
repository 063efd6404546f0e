/**
 * How many tokens a call has cost, by its ids. Weave's service adds what the calls in a call have used to what it has used itself
 * (`/calls/usage`, `/trace/usage`), so a token counts where the model was called and nowhere else: not in a call around that
 * (verl's `ToolAgentLoop.run`), nor in one that was given the ids to look at (its parser of tools).
 */
import { read } from "../read.js";
import { openRollouts } from "../rollouts.js";
import { members } from "./json-text.js";
import { batchText } from "./weave-calls.js";

/** @typedef {import("../span.js").Span} Span */
/** @typedef {import("../span.js").SpanField} SpanField */
/** @typedef {import("../read.js").ReadOptions["layouts"]} Layouts */
/** @typedef {{ model?: string, prompt: number, completion: number }} Usage */

/** Calls around others that an exporter remembers; older ones are forgotten. */
const MAX_REMEMBERED = 10_000;

/** Counts the tokens of one export after the other: a call may come later than those in it. */
export class UsageCounter {
  /** Calls that are around one with usage. @type {Set<string>} */
  #around = new Set();

  /**
   * @param {{ text: string, fields?: SpanField[] }[]} calls Their JSON, and the fields of the spans that they were written of.
   * @param {Layouts} layouts
   * @returns {Promise<(Usage | undefined)[]>} For each call. One that cannot be read has none: it is for the service to refuse it.
   */
  async count(calls, layouts) {
    try {
      return await this.#count(calls, layouts);
    } catch {
      const readable = await Promise.all(calls.map(({ text }) => read(batchBytes([text]), { format: "weave", layouts }).then(() => true, () => false)));
      const usages = await this.#count(calls.filter((_, i) => readable[i]), layouts);
      return readable.map((isReadable) => (isReadable ? usages.shift() : undefined));
    }
  }

  /** @param {{ text: string, fields?: SpanField[] }[]} calls @param {Layouts} layouts */
  async #count(calls, layouts) {
    const body = batchBytes(calls.map(({ text }) => text));
    const limits = { bodyBytes: body.length };
    const spans = await read(body, { format: "weave", layouts, limits });
    const notOwn = await holdersAndCopies(body, { format: "weave", layouts, limits });
    const usages = spans.map((span, i) => (notOwn.has(span.path) ? undefined : usageOf(span, calls[i].fields)));
    const places = new Map(spans.map((span, i) => [keyOf(span.traceId, span.spanId), i]));
    spans.forEach((span, i) => {
      // Those around one that is around others are so too.
      if (usages[i] || this.#around.has(keyOf(span.traceId, span.spanId))) this.#remember(span, spans, places);
    });
    this.#forgetOldest();
    return usages.map((usage, i) => (this.#around.has(keyOf(spans[i].traceId, spans[i].spanId)) ? undefined : usage));
  }

  /** @param {Span} span @param {Span[]} spans @param {Map<string, number>} places */
  #remember(span, spans, places) {
    /** @type {Span | undefined} */
    let at = span;
    const seen = new Set([at]);
    while (at?.parentId) {
      const key = keyOf(at.traceId, at.parentId);
      this.#around.delete(key);
      this.#around.add(key);
      at = spans[places.get(key) ?? -1];
      // Parents may be around each other.
      if (at && seen.has(at)) return;
      if (at) seen.add(at);
    }
  }

  #forgetOldest() {
    for (const key of this.#around) {
      if (this.#around.size <= MAX_REMEMBERED) return;
      this.#around.delete(key);
    }
  }
}

/**
 * The summary of a call with what it has used; one that has `usage` stays as it is.
 *
 * @param {string} summary JSON text.
 * @param {Usage} usage
 * @param {string} unnamed Stands for a model without a name.
 */
export function withUsage(summary, { model, prompt, completion }, unnamed) {
  if (!summary.startsWith("{")) return summary;
  const parts = members(summary);
  if (parts.has("usage")) return summary;
  const usage = { [model ?? unnamed]: { requests: 1, prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } };
  return `{"usage":${JSON.stringify(usage)}${parts.size > 0 ? "," : ""}${summary.slice(1)}`;
}

/**
 * The addresses of calls that hold others, or have the ids of another once more.
 *
 * @param {Uint8Array} body
 * @param {import("../rollouts.js").OpenRolloutsOptions} options
 */
async function holdersAndCopies(body, options) {
  /** @type {Set<string>} */
  const found = new Set();
  const reader = await openRollouts(body, {}, options);
  try {
    for (let at = 0; at < reader.length; at++) {
      const { calls } = reader.rollout(at);
      for (const { role, path, partOf } of calls) {
        if (role === "copy") found.add(path);
        else if (partOf !== undefined) found.add(calls[partOf].path);
      }
    }
  } finally {
    reader.free();
  }
  return found;
}

/** @param {Span} span @param {SpanField[]} [known] @returns {Usage | undefined} */
function usageOf({ path, model, fields }, known = []) {
  const own = fields.length > 0 ? fields : known;
  const sums = { prompt: 0, completion: 0 };
  for (const field of own) {
    if (field.kind === "prompt") sums.prompt += field.ids.length;
    // Ids that a call was given were written by another.
    else if (!field.path.startsWith(`${path}/inputs/`)) sums.completion += written(field);
  }
  return sums.completion > 0 ? { model, ...sums } : undefined;
}

/** How many of the ids the model wrote: those that a mask over them says. @param {SpanField} field */
function written({ ids, mask, segments }) {
  if (segments !== undefined || mask?.length !== ids.length) return ids.length;
  return mask.reduce((count, bit) => count + (bit === 0 ? 0 : 1), 0);
}

/** @param {string[]} calls */
function batchBytes(calls) {
  return new TextEncoder().encode(batchText(calls));
}

/** @param {string} traceId @param {string} spanId */
function keyOf(traceId, spanId) {
  return `${traceId} ${spanId}`;
}
