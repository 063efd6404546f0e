/** The spans, calls and entries of a body that is JSON, as they stand in it. */
import { endOfValue, isList, scalarAt, skipSpace, visit } from "./json-bytes.js";
import { isOfSample, note, sampleOf } from "./trajectory.js";

/** @typedef {import("./pieces.js").Piece} Piece */
/** @typedef {import("./trajectory.js").Known} Known */
/** @typedef {{ start: number, end: number }} Part */
/** A list of pieces. @typedef {Part & { items: (Part & { piece: Piece })[] }} List */

/**
 * Lists of pieces by the first key of a body: the steps from there (`*` is every element), and what stands for a piece while the others are
 * enriched: nothing to decode, but what tells the format, for which the first is asked.
 *
 * @type {Record<string, { steps: string[], standIn: string }>}
 */
const LISTS = {
  resourceSpans: { steps: ["*", "scopeSpans", "*", "spans"], standIn: "{}" },
  resource_spans: { steps: ["*", "scope_spans", "*", "spans"], standIn: "{}" },
  // Weave, either kind of batch.
  batch: { steps: [], standIn: '{"op_name":0}' },
  // Trackio's bulk_log.
  kwargs: { steps: ["logs"], standIn: '{"metrics":0}' },
  logs: { steps: [], standIn: '{"metrics":0}' },
  // MLflow's traces.json.
  spans: { steps: [], standIn: '{"start_time_unix_nano":0}' },
};
/** Members of which a piece consists: halves of a Weave call, what MLflow is told of a trace. A body may be such a piece. */
const INNER = new Set(["req", "start", "end", "trace", "trace_info"]);
/** The members that name a piece. @type {Record<string, "traceId" | "id">} */
const IDS = { traceId: "traceId", trace_id: "traceId", spanId: "id", span_id: "id", id: "id", log_id: "id" };
/** The members whose own members, or pairs of key and value, may name a sample. */
const NAMING = new Set(["attributes", "metadata", "tags"]);

/** @param {Buffer} body @returns {import("./pieces.js").CutBody | undefined} */
export function jsonBody(body) {
  const { lists, standIn, isPiece } = cut(body);
  const items = itemsOf(lists);
  if (items.length > 0) {
    return {
      pieces: items.map(({ piece }) => piece),
      select: (isKept) => selected(body, lists, isKept),
      hide: (isKept) => hidden(body, items, standIn, isKept),
    };
  }
  if (!isPiece) return undefined;
  return { pieces: [pieceAt(body, skipSpace(body, 0)).piece], select: () => body, hide: () => undefined };
}

/** The lists of pieces in a body, and whether it is a piece itself. @param {Buffer} body */
function cut(body) {
  /** @type {List[]} */
  const lists = [];
  let standIn = "";
  let isPiece = false;
  visit(body, skipSpace(body, 0), (key, at) => {
    if (INNER.has(key)) isPiece = true;
    if (!Object.hasOwn(LISTS, key)) return undefined;
    standIn = LISTS[key].standIn;
    return collect(body, at, LISTS[key].steps, lists);
  });
  return { lists, standIn, isPiece };
}

/** @param {List[]} lists */
const itemsOf = (lists) => lists.flatMap(({ items }) => items);

/**
 * Follows steps to lists.
 *
 * @param {Buffer} body
 * @param {number} start
 * @param {string[]} steps
 * @param {List[]} lists
 * @returns {number} Where the value ends.
 */
function collect(body, start, [step, ...deeper], lists) {
  if (step !== undefined) {
    const isStep = (/** @type {string} */ key) => step === key || (step === "*" && key === "");
    return visit(body, start, (key, at) => (isStep(key) ? collect(body, at, deeper, lists) : undefined));
  }
  if (!isList(body, start)) return endOfValue(body, start);
  /** @type {List["items"]} */
  const items = [];
  const end = visit(body, start, (_, at) => {
    const item = pieceAt(body, at);
    items.push(item);
    return item.end;
  });
  lists.push({ start, end, items });
  return end;
}

/** @param {Buffer} body @param {number} start */
function pieceAt(body, start) {
  /** @type {Piece} */
  const piece = { samples: [] };
  /** @type {Known} */
  const beside = {};
  const end = read(body, start, piece, beside);
  // An entry of Trackio has the step beside its traces.
  for (const sample of piece.samples) sample.step ??= beside.step;
  return { start, end, piece };
}

/**
 * Reads what a piece, or a part of it, says of itself.
 *
 * @param {Buffer} body
 * @param {number} start
 * @param {Piece} piece
 * @param {Known} beside
 * @returns {number} Where it ends.
 */
function read(body, start, piece, beside) {
  /** @type {Known} */
  const known = {};
  const readPart = (/** @type {number} */ at) => read(body, at, piece, beside);
  // Of Trackio: a trace, or a list of them.
  const readMetric = (/** @type {number} */ at) => (isList(body, at) ? visit(body, at, (_, item) => readPart(item)) : readPart(at));
  const end = visit(body, start, (key, at) => {
    if (NAMING.has(key)) return readNames(body, at, known);
    if (Object.hasOwn(IDS, key)) nameBy(piece, IDS[key], scalarAt(body, at));
    if (key === "step") note(beside, key, scalarAt(body, at));
    if (key === "start") piece.isStart = true;
    if (INNER.has(key)) return readPart(at);
    return key === "metrics" ? visit(body, at, (_, metric) => readMetric(metric)) : undefined;
  });
  const sample = sampleOf(known);
  if (sample) piece.samples.push(sample);
  return end;
}

/** @param {Piece} piece @param {"traceId" | "id"} name @param {unknown} value */
function nameBy(piece, name, value) {
  if (typeof value !== "string" || value === "") return;
  // MLflow's trace info and its files have spellings of their own.
  const isBase64 = /^[A-Za-z0-9+/]{22}==$/.test(value);
  piece[name] ??= isBase64 ? Buffer.from(value, "base64").toString("hex") : value.replace(/^tr-/, "").toLowerCase();
}

/** Reads an object, or a list of pairs. @param {Buffer} body @param {number} start @param {Known} known @returns {number} The end. */
function readNames(body, start, known) {
  if (!isList(body, start)) {
    return visit(body, start, (key, at) => void (isOfSample(key) && note(known, key, scalarAt(body, at))));
  }
  return visit(body, start, (_, pair) => {
    /** @type {Record<string, unknown>} */
    const found = {};
    const end = visit(body, pair, (name, at) => {
      if (name === "key") found.key = scalarAt(body, at);
      if (name !== "value") return undefined;
      found.value = scalarAt(body, at);
      // OTLP's are wrapped by their type: {"intValue":"5"}.
      return visit(body, at, (_, inner) => void (found.value = scalarAt(body, inner)));
    });
    note(known, String(found.key), found.value);
    return end;
  });
}

/** @param {Buffer} body @param {List[]} lists @param {(index: number) => boolean} isKept */
function selected(body, lists, isKept) {
  const parts = [];
  let [index, at] = [0, 0];
  for (const { start, end, items } of lists) {
    const kept = items.filter(() => isKept(index++));
    if (kept.length === items.length) continue;
    parts.push(body.subarray(at, start + 1));
    for (const [i, item] of kept.entries()) parts.push(Buffer.from(i === 0 ? "" : ","), body.subarray(item.start, item.end));
    at = end - 1;
  }
  return Buffer.concat([...parts, body.subarray(at)]);
}

/**
 * Others stand for the pieces that are not kept, with spaces up to their length: their own texts fit in again.
 *
 * @param {Buffer} body
 * @param {Part[]} parts
 * @param {string} standIn
 * @param {(index: number) => boolean} isKept
 * @returns {import("./pieces.js").Hidden | undefined}
 */
function hidden(body, parts, standIn, isKept) {
  const out = [...parts.entries()].filter(([i, { start, end }]) => !isKept(i) && end - start >= standIn.length);
  const copy = Buffer.from(body);
  for (const [, { start, end }] of out) copy.fill(" ", start, end).write(standIn, start);
  return {
    body: copy,
    standIns: out.length,
    show(enriched) {
      const now = itemsOf(cut(enriched).lists);
      for (const [i, { start, end }] of out) body.copy(enriched, now[i].start, start, end);
    },
  };
}
