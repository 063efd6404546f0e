/** The calls of a body of Weave: cut out as they are written, halves put together, and made fit for the server. */
import { Token2TextError, asToken2TextError } from "../errors.js";
import { finite, repair } from "./json-repair.js";
import { elements, members } from "./json-text.js";

/** A call by its members: their JSON texts. @typedef {Map<string, string>} Call */
/**
 * A call that was given, or why it is none. `span` is what it was written of.
 *
 * @typedef {{ index: number, call: Call, span?: import("./weave-spans.js").Span } | { index: number, error: Token2TextError }} Item
 */
/**
 * How much was replaced: half characters and bytes that are no UTF-8, now U+FFFD; `NaN` and infinities, now null.
 *
 * @typedef {{ characters: number, numbers: number }} Replaced
 */

/** All of one line tell that a document is one of Weave, as in README's table of formats. Of a list its first element counts. */
const SIGNS = [
  ["batch/op_name"],
  ["batch/mode", "batch/req"],
  ["calls/op_name"],
  ["start/op_name"],
  ["end/project_id", "end/ended_at"],
  ["call/op_name"],
  ["op_name", "trace_id"],
];
/** So many lines are looked at, for the first may be broken. */
const MAX_LOOKED_AT = 10;
/** What only the service says of a call. Its `summary.weave` is made anew whenever it is read. */
const READ_ONLY = ["wb_user_id", "wb_username", "deleted_at", "expire_at", "storage_size_bytes", "total_storage_size_bytes"];
const NEEDED = ["id", "trace_id", "op_name", "started_at", "ended_at"];
const OBJECTS = ["attributes", "inputs", "summary"];

/**
 * The calls of a body of Weave, as they are written there.
 *
 * @param {string} text
 * @param {string} project
 * @param {Replaced} replaced Is counted up.
 * @returns {Item[] | undefined} Nothing if it is a body of another format.
 */
export function callsOfBody(text, project, replaced) {
  const documents = documentsIn(text);
  if (!documents.slice(0, MAX_LOOKED_AT).some(isOfWeave)) return undefined;
  return joined(documents.flatMap(partsOf)).map((part, index) => {
    try {
      if ("error" in part) throw part.error;
      if (part.half) throw unfit(`its ${part.half === "start" ? "end" : "start"} is not in the same body`);
      return { index, call: whole(part.call, project, replaced) };
    } catch (error) {
      return { index, error: asToken2TextError(error) };
    }
  });
}

/** The text of a call. @param {Call} call */
export function callText(call) {
  return `{${[...call].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

/** A body for `calls/complete`. @param {string[]} calls Their texts. */
export function batchText(calls) {
  return `{"batch":[${calls.join(",")}]}`;
}

/** The string that a member is, if it is one. @param {Call} call @param {string} key @returns {string | undefined} */
export function stringIn(call, key) {
  const text = call.get(key);
  try {
    return text?.startsWith('"') ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** JSON lines one by one, or the whole text. @param {string} text */
function documentsIn(text) {
  const lines = text.replace(/^\ufeff/, "").split("\n").filter((line) => line.trim() !== "");
  const whole = lines.join("\n");
  if (lines.length < 2 || !lines.every((line) => line.startsWith("{"))) return [whole];
  // A document may have line breaks, and a line may be broken.
  return partsIn(lines[0]) || !partsIn(whole) ? lines : [whole];
}

/** @param {string} text @returns {Call | undefined} */
export function partsIn(text) {
  try {
    return membersOf(text);
  } catch {
    return undefined;
  }
}

/** The members of an object by their texts. @param {string} text @returns {Call} */
export function membersOf(text) {
  return new Map([...members(text)].map(([key, { start, end }]) => [key, text.slice(start, end)]));
}

/** @param {string} document */
function isOfWeave(document) {
  const root = partsIn(document);
  return root !== undefined && SIGNS.some((paths) => paths.every((path) => has(root, path.split("/"))));
}

/** @param {Call | undefined} object @param {string[]} path @returns {boolean} */
function has(object, [key, ...rest]) {
  const value = object?.get(key);
  if (rest.length === 0 || value === undefined) return value !== undefined;
  if (value.startsWith("{")) return has(partsIn(value), rest);
  const [first] = value.startsWith("[") ? elements(value) : [];
  return first !== undefined && has(partsIn(value.slice(first.start, first.end)), rest);
}

/** The texts of the list that a document is. @param {string} document */
export function listIn(document) {
  const root = membersOf(document);
  const list = root.get("batch") ?? root.get("calls");
  return list === undefined ? [document] : elements(list).map(({ start, end }) => list.slice(start, end));
}

/** A call, half of one, or why it is none. @typedef {{ call: Call, half?: "start" | "end" } | { error: unknown }} Part */

/** @param {string} document @returns {Part[]} */
function partsOf(document) {
  try {
    return listIn(document).map(partOf);
  } catch (error) {
    return [{ error }];
  }
}

/** @param {string} text @returns {Part} */
function partOf(text) {
  try {
    const item = membersOf(text);
    const request = item.get("req");
    const around = request?.startsWith("{") ? membersOf(request) : item;
    const half = /** @type {const} */ (["start", "end"]).find((key) => around.get(key)?.startsWith("{"));
    const inside = around.get(half ?? "call");
    return { call: inside?.startsWith("{") ? membersOf(inside) : around, half };
  } catch (error) {
    return { error };
  }
}

/** Puts starts and ends together, at the place of the one that came first. @param {Part[]} parts */
function joined(parts) {
  /** Of those whose other half has not come. @type {Map<string | undefined, { call: Call, half?: "start" | "end" }>} */
  const halves = new Map();
  return parts.filter((part) => {
    if ("error" in part || part.half === undefined) return true;
    const id = part.call.get("id");
    const other = halves.get(id);
    if (other === undefined || other.half === part.half) return halves.set(id, part);
    const [start, end] = part.half === "end" ? [other, part] : [part, other];
    other.call = new Map([...start.call, ...end.call]);
    other.half = undefined;
    return !halves.delete(id);
  });
}

/**
 * A call as `calls/complete` takes it.
 *
 * @param {Call} given
 * @param {string} project
 * @param {Replaced} replaced
 * @throws {Token2TextError} It lacks what it needs.
 */
function whole(given, project, replaced) {
  /** @type {Call} */
  const call = new Map([["project_id", JSON.stringify(project)]]);
  for (const [key, text] of given) {
    if (READ_ONLY.includes(key) || key === "project_id") continue;
    call.set(key, storableJson(text, replaced));
  }
  for (const key of NEEDED) {
    if (stringIn(call, key)) continue;
    throw unfit(key === "ended_at" ? "it has not ended" : `its \`${key}\` is missing or no string`);
  }
  for (const key of OBJECTS) if ((call.get(key) ?? "null") === "null") call.set(key, "{}");
  call.set("summary", withoutMember(call.get("summary") ?? "{}", "weave"));
  return call;
}

/** An object without one of its members; the others stay as they are. @param {string} text @param {string} key */
function withoutMember(text, key) {
  if (!text.startsWith("{")) return text;
  const object = membersOf(text);
  return object.delete(key) ? callText(object) : text;
}

/** JSON text as Weave stores it. @param {string} text @param {Replaced} replaced */
export function storableJson(text, replaced) {
  return finite(repair(storableText(text, replaced), () => void replaced.characters++), () => (replaced.numbers++, "null"));
}

/** Text without half characters. @param {string} text @param {Replaced} replaced */
export function storableText(text, replaced) {
  return text.replace(/[\ud800-\udfff]/gu, () => (replaced.characters++, "\ufffd"));
}

/** @param {string} what */
function unfit(what) {
  return new Token2TextError("invalid_body", `a call cannot be stored: ${what}`);
}
