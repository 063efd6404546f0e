/** Runs a trace through the package's worker and keeps what the page shows, a few milliseconds at a time. */
import type { ReportField } from "token2text";
import { Enricher, Token2TextError, type Tokenizer } from "token2text/worker";
import { breathe } from "./dom";
import { type TraceFile, isBlank, isJsonLines, resolve, splitLines, tryParse } from "./trace";

export interface ShownField {
  kind: "prompt" | "response";
  status: ReportField["status"];
  layout: string;
  path: string;
  count: number;
  /** One text, or one per row where the ids are a list of lists. */
  texts: string[];
  reason?: string;
  unknown: number;
}

export interface ShownRecord {
  /** Line in the file, or place in the array, from 1. */
  number: number;
  name: string;
  attributes: [string, string][];
  fields: ShownField[];
  /** The reason why nothing could be done with it. */
  error?: string;
  /** The ids of a field, read again from the file when somebody wants to see them. */
  ids: (path: string) => unknown;
  /** Lower case text that the search looks through. */
  haystack: string;
}

export interface Problem {
  what: string;
  count: number;
  example: string;
}

export interface Totals {
  records: number;
  prompts: number;
  responses: number;
  ids: number;
  kept: number;
  skipped: number;
  unknown: number;
}

export interface DecodeResult {
  totals: Totals;
  problems: Problem[];
  /** The enriched file. */
  parts: Uint8Array[];
}

const SLICE_MS = 24;
/** So many lines are with the worker at once: enough that neither side waits for the other. */
const IN_FLIGHT = 32;

export async function decodeTrace(
  trace: TraceFile,
  tokenizer: Tokenizer,
  signal: AbortSignal,
  onRecords: (records: ShownRecord[], part: number) => void,
): Promise<DecodeResult> {
  const enricher = await Enricher.create(tokenizer);
  try {
    return await decodeWith(enricher, trace, signal, onRecords);
  } finally {
    await enricher.free();
  }
}

async function decodeWith(
  enricher: Enricher,
  trace: TraceFile,
  signal: AbortSignal,
  onRecords: (records: ShownRecord[], part: number) => void,
): Promise<DecodeResult> {
  const tally = new Tally();
  const parts: Uint8Array[] = [];
  let pending: ShownRecord[] = [];
  let until = performance.now() + SLICE_MS;
  let done = 0;
  for await (const { records, body } of isJsonLines(trace.bytes) ? lines(trace, enricher) : document(trace, enricher)) {
    parts.push(body);
    done += body.length;
    for (const record of records) tally.add(record);
    pending.push(...records);
    if (performance.now() < until) continue;
    onRecords(pending, Math.min(1, done / (trace.bytes.length * 1.3)));
    pending = [];
    await breathe();
    signal.throwIfAborted();
    until = performance.now() + SLICE_MS;
  }
  onRecords(pending, 1);
  return { totals: tally.totals, problems: tally.problems(), parts };
}

interface Piece {
  records: ShownRecord[];
  body: Uint8Array;
}

async function* lines(trace: TraceFile, enricher: Enricher): AsyncGenerator<Piece> {
  const pieces: Promise<Piece>[] = [];
  let number = 0;
  for (const line of splitLines(trace.bytes)) {
    pieces.push(decodeLine(line, ++number, enricher));
    if (pieces.length === IN_FLIGHT) yield pieces.shift()!;
  }
  yield* pieces;
}

async function decodeLine(line: Uint8Array, number: number, enricher: Enricher): Promise<Piece> {
  if (isBlank(line)) return { records: [], body: line };
  try {
    const { body, report } = await enricher.enrichBody(line);
    return { records: [describeRecord(tryParse(body), "", report.fields, number, () => tryParse(line))], body };
  } catch (error) {
    if (!(error instanceof Token2TextError)) throw error;
    return { records: [brokenRecord(number, error.message)], body: line };
  }
}

/** A document is one record, or an array of them. */
async function* document(trace: TraceFile, enricher: Enricher): AsyncGenerator<Piece> {
  const { body, report } = await enricher.enrichBody(trace.bytes);
  const value = tryParse(body);
  const original = () => tryParse(trace.bytes);
  if (!Array.isArray(value)) {
    yield { records: [describeRecord(value, "", report.fields, 1, original)], body };
    return;
  }
  const byRecord = groupByFirstStep(report.fields);
  const records = value.map((item, i) => {
    return describeRecord(item, `/${i}`, byRecord.get(String(i)) ?? [], i + 1, original);
  });
  yield { records, body };
}

function groupByFirstStep(fields: ReportField[]): Map<string, ReportField[]> {
  const groups = new Map<string, ReportField[]>();
  for (const field of fields) {
    const key = field.path.split("/")[1];
    const group = groups.get(key);
    if (group) group.push(field);
    else groups.set(key, [field]);
  }
  return groups;
}

function describeRecord(
  value: unknown,
  prefix: string,
  fields: ReportField[],
  number: number,
  original: () => unknown,
): ShownRecord {
  const object = typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  const name = typeof object.name === "string" && object.name !== "" ? object.name : "record";
  const shown = fields.map((field) => describeField(field, value, prefix));
  const attributes = listAttributes(object.attributes);
  const words = [name, ...attributes.map((pair) => pair.join(" ")), ...shown.flatMap(({ texts }) => texts)];
  return {
    number,
    name,
    attributes,
    fields: shown,
    ids: (path) => resolve(original(), path),
    haystack: words.join("\n").toLowerCase(),
  };
}

function describeField(field: ReportField, value: unknown, prefix: string): ShownField {
  const textPath = field.textPath?.startsWith(prefix) ? field.textPath.slice(prefix.length) : undefined;
  const text = field.status === "skipped" || textPath === undefined ? undefined : resolve(value, textPath);
  return {
    kind: field.kind,
    status: field.status,
    layout: field.layout,
    path: field.path,
    count: field.ids,
    texts: Array.isArray(text) ? text.map(String) : typeof text === "string" ? [text] : [],
    reason: field.detail ? `${field.reason}: ${field.detail}` : field.reason,
    unknown: field.unknown?.count ?? 0,
  };
}

function brokenRecord(number: number, error: string): ShownRecord {
  return { number, name: "broken line", attributes: [], fields: [], error, ids: () => undefined, haystack: error.toLowerCase() };
}

function listAttributes(attributes: unknown): [string, string][] {
  if (typeof attributes !== "object" || attributes === null || Array.isArray(attributes)) return [];
  return Object.entries(attributes)
    .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value) && String(value).length <= 60)
    .slice(0, 12)
    .map(([key, value]) => [key, String(value)]);
}

class Tally {
  readonly totals: Totals = { records: 0, prompts: 0, responses: 0, ids: 0, kept: 0, skipped: 0, unknown: 0 };
  #problems = new Map<string, Problem>();

  add(record: ShownRecord): void {
    this.totals.records++;
    if (record.error) this.#note("line copied unchanged", record.error, `line ${record.number}`);
    for (const field of record.fields) this.#addField(field, record.number);
  }

  problems(): Problem[] {
    return [...this.#problems.values()];
  }

  #addField(field: ShownField, number: number): void {
    if (field.status === "skipped") {
      this.totals.skipped++;
      this.#note("skipped", field.reason ?? "no reason given", `record ${number}, ${field.path}`);
      return;
    }
    if (field.status === "kept") this.totals.kept++;
    if (field.kind === "prompt") this.totals.prompts++;
    else this.totals.responses++;
    this.totals.ids += field.count;
    this.totals.unknown += field.unknown;
  }

  #note(what: string, reason: string, example: string): void {
    const key = `${what}: ${reason.replace(/\d+/g, "#")}`;
    const known = this.#problems.get(key);
    if (known) known.count++;
    else this.#problems.set(key, { what: `${what}: ${reason}`, count: 1, example });
  }
}
