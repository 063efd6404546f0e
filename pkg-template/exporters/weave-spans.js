/** Spans as calls of Weave. */
import { Token2TextError, asToken2TextError } from "../errors.js";
import { read } from "../read.js";
import { openRollouts } from "../rollouts.js";
import { write } from "../write.js";
import { memberText, members, textOf } from "./json-text.js";
import { sha256 } from "./sha256.js";
import { callText, listIn, membersOf, partsIn, storableJson } from "./weave-calls.js";

/** @typedef {import("./weave-calls.js").Call} Call */
/** @typedef {import("./weave-calls.js").Item} Item */
/** @typedef {import("./weave-calls.js").Replaced} Replaced */
/** @typedef {import("../write.js").SpanInput & { fields?: import("../span.js").SpanField[] }} Span */
/** @typedef {Pick<import("../read.js").ReadOptions, "contentType" | "url" | "layouts">} Origin */

/** Members that OTLP's spans have among their attributes; Weave's own OTLP route reads the same. */
const NAMED = { display_name: "wandb.display_name", thread_id: "wandb.thread_id" };
const LINE_FEED = 0x0a;
/** Texts of a span that are JSON. */
const JSON_MEMBERS = ["inputs", "output", "attributes", "events"];
/** An id that no other has by chance, and that fits into an address: hexadecimal digits, UUIDs, ULIDs. */
const UNIQUE = /^[\w-]{16,64}$/;

/**
 * The spans of a body of another format than Weave's.
 *
 * @param {Uint8Array} bytes
 * @param {Origin} origin
 * @param {string} project
 * @param {Replaced} replaced Is counted up.
 * @returns {Promise<Item[]>}
 * @throws {Token2TextError} What `read` and `write` throw.
 */
export async function callsOfOthers(bytes, origin, project, replaced) {
  const items = await callsOfSpans(await read(bytes, origin), project, replaced);
  const broken = bytes.includes(LINE_FEED) ? await brokenLines(bytes, origin) : [];
  return [...items, ...broken.map((error, i) => ({ index: items.length + i, error }))];
}

/**
 * @param {readonly Span[]} spans
 * @param {string} project
 * @param {Replaced} replaced Is counted up.
 * @returns {Promise<Item[]>}
 * @throws {Token2TextError} What `write` throws.
 */
export async function callsOfSpans(spans, project, replaced) {
  const prepared = spans.map((span) => withIds(withEvents(storable(span, replaced))));
  /** @type {(Token2TextError | undefined)[]} */
  const refused = prepared.map(() => undefined);
  const writeAll = (/** @type {typeof prepared} */ some) => write(some, "weave", { projectId: project });
  let body;
  try {
    body = await writeAll(prepared);
  } catch {
    // Which of them it was.
    for (const [i, span] of prepared.entries()) await writeAll([span]).catch((error) => (refused[i] = atPlace(error, i)));
    body = await writeAll(prepared.filter((_, i) => !refused[i]));
  }
  const written = listIn(textOf(body)).map(membersOf);
  return spans.map((span, index) => {
    const error = refused[index];
    if (error) return { index, error };
    const call = /** @type {Call} */ (written.shift());
    const attributes = call.get("attributes") ?? "{}";
    const parts = members(attributes);
    for (const [member, key] of Object.entries(NAMED)) {
      const value = memberText(attributes, parts, key);
      if (value?.startsWith('"')) call.set(member, value);
    }
    return { index, call, span };
  });
}

/** Lines that `read` passes over, for they are no JSON. @param {Uint8Array} bytes @param {Origin} origin */
async function brokenLines(bytes, origin) {
  const reader = await openRollouts(bytes, {}, origin);
  const broken = reader.skipped.filter(({ reason }) => reason === "invalid_body");
  reader.free();
  return broken.map(({ path, detail }) => new Token2TextError("invalid_body", `the line ${path} is not JSON: ${detail.slice(detail.indexOf(":") + 2)}`));
}

/** What `write` would replace without a word. @param {Span} span @param {Replaced} replaced @returns {Span} */
function storable(span, replaced) {
  if (typeof span !== "object" || span === null) return span;
  const members = Object.entries(span).map(([key, value]) => [key, typeof value === "string" ? text(key, value) : value]);
  return Object.fromEntries(members);

  function text(/** @type {string} */ key, /** @type {string} */ value) {
    if (JSON_MEMBERS.includes(key)) return storableJson(value, replaced);
    return value.replace(/[\ud800-\udfff]/gu, () => (replaced.characters++, "\ufffd"));
  }
}

/** Weave's calls have no events: they go where people look for what else is known. @param {Span} span @returns {Span} */
function withEvents(span) {
  const { events, attributes } = span ?? {};
  if (!events || !/^\s*\[\s*\S/.test(events) || /^\s*\[\s*\]\s*$/.test(events)) return span;
  const object = attributes ? partsIn(attributes) : new Map();
  if (!object || object.has("events")) return span;
  return { ...span, attributes: callText(new Map([...object, ["events", events]])) };
}

/** @param {Span} span @returns {Span} */
function withIds(span) {
  if (!span?.spanId || !span.traceId) return span;
  const traceId = weaveId(span.traceId);
  const inTrace = (/** @type {string} */ id) => weaveId(id, span.traceId);
  return { ...span, traceId, spanId: inTrace(span.spanId), ...(span.parentId && { parentId: inTrace(span.parentId) }) };
}

/** Calls are known by their id in all of a project, spans in their trace only. @param {string} id @param {string} [traceId] */
function weaveId(id, traceId = "") {
  return UNIQUE.test(id) ? id : sha256(JSON.stringify([traceId, id])).slice(0, 32);
}

/** An error about the only span of a list, as one about that of another place. @param {unknown} error @param {number} i */
function atPlace(error, i) {
  const { code, message } = asToken2TextError(error);
  return new Token2TextError(code, message.replace("spans[0]", `spans[${i}]`), { cause: error });
}

