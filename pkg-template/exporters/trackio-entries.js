/** The entries of a `bulk_log` body: cut out as they are written, and made fit for the server one by one. */
import { Token2TextError, messageOf } from "../errors.js";
import { MAX_UINT64, counting, repair } from "./json-repair.js";
import { elements, memberText, members } from "./json-text.js";
import { sha256 } from "./sha256.js";
import { refusalOfProject } from "./trackio-names.js";

/** @typedef {import("./json-repair.js").Replaced} Replaced */
/**
 * @typedef {object} Entry
 * @property {string} text Its JSON.
 * @property {number} index Among the entries that were given.
 * @property {string} logId
 */
/**
 * An entry that is not stored.
 *
 * @typedef {object} Rejected
 * @property {number} index Among the entries that were given.
 * @property {string} [logId]
 * @property {Token2TextError} error
 * @property {number} [httpStatus] Of the answer to it alone: 500 may also mean that the server is ill.
 */

/** The server blocks for half a second on as much. */
const MAX_BATCH_CHARS = 1 << 20;
const MAX_BATCH_ENTRIES = 200;
/** A step of another kind is stored, and the run then takes no entry without a step. */
const STEP = /^(null|-?\d{1,18}(\.0+)?)$/;

/**
 * Cuts a body into its entries, in either form that Trackio's server takes.
 *
 * @param {string} text
 * @returns {{ hfToken: string, entries: string[] }} Pieces of the body.
 * @throws {Token2TextError} `invalid_body`
 */
export function readBody(text) {
  text = text.replace(/^\ufeff/, "");
  const root = members(text);
  const kwargs = root.get("kwargs");
  const args = kwargs ? members(text, kwargs.start) : root;
  const logs = args.get("logs");
  if (!logs) throw new Token2TextError("invalid_body", "no bulk_log body of Trackio: there is no `logs`, nor `kwargs` with it");
  const entries = elements(text, logs.start).map(({ start, end }) => text.slice(start, end));
  return { hfToken: memberText(text, args, "hf_token") ?? "null", entries };
}

/** @param {string} hfToken JSON text. @param {Pick<Entry, "text">[]} entries */
export function writeBody(hfToken, entries) {
  return `{"hf_token":${hfToken},"logs":[${entries.map(({ text }) => text).join(",")}]}`;
}

/**
 * Entries as they can be sent, and those that cannot. An entry without a `log_id` gets one that is made of its text: the same
 * entry is then stored once, however often it is sent.
 *
 * @param {string[]} texts
 * @param {Replaced} replaced Is counted up.
 */
export function prepare(texts, replaced) {
  /** @type {Entry[]} */
  const entries = [];
  /** @type {Rejected[]} */
  const rejected = [];
  /** @type {Map<string, number>} */
  const repeated = new Map();
  const note = counting(replaced);
  texts.forEach((text, index) => {
    try {
      const logId = checked(text);
      const copy = repeated.get(text) ?? 0;
      repeated.set(text, copy + 1);
      const id = logId ?? derivedId(String(copy), text);
      entries.push({ index, logId: id, text: repair(logId === undefined ? withLogId(text, id) : text, note, MAX_UINT64) });
    } catch (error) {
      rejected.push({ index, error: asError(error) });
    }
  });
  return { entries, rejected };
}

/**
 * An id as Trackio's own client gives them: 32 hexadecimal digits.
 *
 * @param {string[]} parts What tells it from others.
 */
export function derivedId(...parts) {
  return sha256(parts.join("\n")).slice(0, 32);
}

/**
 * Runs of entries that one request takes.
 *
 * @param {Entry[]} entries
 */
export function* batches(entries) {
  /** @type {Entry[]} */
  let batch = [];
  let chars = 0;
  for (const entry of entries) {
    if (batch.length > 0 && (chars + entry.text.length > MAX_BATCH_CHARS || batch.length === MAX_BATCH_ENTRIES)) {
      yield batch;
      [batch, chars] = [[], 0];
    }
    batch.push(entry);
    chars += entry.text.length;
  }
  if (batch.length > 0) yield batch;
}

/**
 * The `log_id` of an entry, if it has one. What the server would refuse together with the entries around, or take to the harm of
 * others, is an error.
 *
 * @param {string} text
 */
function checked(text) {
  const parts = members(text);
  for (const name of ["project", "run", "metrics"]) if (!parts.has(name)) throw unfit(`it has no \`${name}\``);
  if (text[parts.get("metrics")?.start ?? 0] !== "{") throw unfit("its `metrics` are no object");
  const project = JSON.parse(memberText(text, parts, "project") ?? "");
  if (typeof project !== "string") throw unfit("its `project` is no string");
  const refusal = refusalOfProject(project);
  if (refusal) throw unfit(`its project must not be called ${JSON.stringify(project)}: ${refusal}`);
  const step = memberText(text, parts, "step") ?? "null";
  if (!STEP.test(step)) throw unfit(`its \`step\` must be an integer or null, not ${step.slice(0, 40)}`);
  const logId = memberText(text, parts, "log_id") ?? "null";
  return logId === "null" ? undefined : String(JSON.parse(logId));
}

/** Its place is the end: of two members with one key, the server takes the last. @param {string} text @param {string} id */
function withLogId(text, id) {
  return `${text.slice(0, -1)},"log_id":"${id}"}`;
}

/** @param {string} what */
function unfit(what) {
  return new Token2TextError("invalid_body", `an entry cannot be logged: ${what}`);
}

/** @param {unknown} error */
function asError(error) {
  return error instanceof Token2TextError ? error : unfit(messageOf(error));
}
