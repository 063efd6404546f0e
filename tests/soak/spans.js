/** Spans that are numbered, and otherwise of a few kinds that are known: so that a million of them can be compared byte by byte. */
import { createHash } from "node:crypto";
import { splitSpans } from "../../pkg/exporters/otlp-request.js";
import { enricherOf, numbers } from "../collector/support/bodies.js";
import { request } from "../integration/support/fixtures.js";

const KINDS = 40;
/** Spans of a request: many small ones, as exporters without batches send them, and some large ones. */
const COUNTS = [1, 1, 2, 5, 20, 100, 200, 400];
const VOCABULARY = 150_000;
/** Where a span has its ids: fields 1, 2 and, of all but roots, 4, each after its head of two bytes. */
const TRACE_ID = [2, 18];
const SPAN_ID = [20, 28];
const PARENT_ID = [30, 38];
const PARENT_HEAD = 0x22;

/** A request whose ids can be written anew. @typedef {{ body: Buffer, count: number, traceAt: number[], spansAt: number[][] }} Kind */

/** The same in every process. @returns {Kind[]} */
export function kinds() {
  const number = numbers(7);
  return Array.from({ length: KINDS }, (_, kind) => {
    const count = COUNTS[kind % COUNTS.length];
    const trace = idOf(`trace ${kind}`, 16);
    const ids = Array.from({ length: count }, (_, i) => idOf(`span ${kind} ${i}`, 8));
    const spans = ids.map((span, i) => ({
      trace,
      span,
      ...(i > 0 && { parent: ids[0] }),
      name: i === 0 ? "rollout" : "generate",
      attributes: { "mlflow.spanOutputs": JSON.stringify({ token_ids: Array.from({ length: 1 + number(40) }, () => number(VOCABULARY)) }), step: BigInt(kind), share: 1 / (1 + i) },
    }));
    const body = Buffer.from(request(...spans));
    return { body, count, traceAt: placesOf(trace, body), spansAt: ids.map((id) => placesOf(id, body)) };
  });
}

/** A request of a kind whose spans have the numbers from `first` on. @param {Kind} kind @param {number} first */
export function numbered({ body, traceAt, spansAt }, first) {
  const copy = Buffer.from(body);
  for (const at of traceAt) copy.writeBigUInt64BE(BigInt(first), at + 8);
  for (const [i, places] of spansAt.entries()) {
    for (const at of places) copy.writeBigUInt64BE(BigInt(first + i), at);
  }
  return copy;
}

/** Says of each span of a request its number, and whether everything else is as token2text writes it. */
export class Reader {
  #expected;

  constructor() {
    const enricher = enricherOf("qwen3");
    this.#expected = new Set(kinds().flatMap(({ body }) => {
      const enriched = enricher.enrichBody(body, { contentType: "application/x-protobuf", url: "/v1/traces" }).body;
      return splitSpans(enriched).map(({ bytes }) => withoutIds(bytes));
    }));
  }

  /** @param {Uint8Array} body @returns {{ number: number, isGood: boolean }[]} */
  read(body) {
    return splitSpans(body).map(({ spanId, bytes }) => ({ number: Number(BigInt(`0x${spanId}`)), isGood: this.#expected.has(withoutIds(bytes)) }));
  }
}

/** @param {Uint8Array} span */
function withoutIds(span) {
  const copy = Buffer.from(span);
  for (const [from, end] of [TRACE_ID, SPAN_ID, ...(copy[SPAN_ID[1]] === PARENT_HEAD ? [PARENT_ID] : [])]) copy.fill(0, from, end);
  return copy.toString("latin1");
}

/** @param {string} name @param {number} bytes */
function idOf(name, bytes) {
  return createHash("sha256").update(name).digest("hex").slice(0, 2 * bytes);
}

/** @param {string} id @param {Buffer} body */
function placesOf(id, body) {
  const places = [];
  const bytes = Buffer.from(id, "hex");
  for (let at = body.indexOf(bytes); at !== -1; at = body.indexOf(bytes, at + 1)) places.push(at);
  return places;
}
