/** Reads traces out of a store, whoever keeps it: which have changed, and the spans of some. */
import { toProtobuf } from "token2text/exporters/otlp";
import { JSON_TYPE } from "../receive/answers.js";
import { Refusal } from "../receive/refusal.js";
import { closed, openBeside } from "./open.js";
import { joined, spansOf } from "./spans.js";
import { Traces } from "./traces.js";

/** @typedef {import("../types.js").StoredBody} StoredBody */
/** @typedef {import("../types.js").StoredSpans} StoredSpans */
/** @typedef {import("./spans.js").Span} Span */

/** Bodies that are in memory at once. */
const PAGE_BYTES = 8 << 20;
/** Spans are given out in requests of about that size, which decoding takes in turns. */
const REQUEST_BYTES = 1 << 20;

export class Reader {
  #database;
  #traces;

  /** @param {string} file @throws {import("./store-error.js").StoreError} */
  constructor(file) {
    this.#database = openBeside(file);
    try {
      this.#traces = new Traces(this.#database);
    } catch (error) {
      throw closed(file, this.#database, error);
    }
  }

  /** @param {number} after @param {number} limit */
  changed(after, limit) {
    return this.#traces.changed(after, limit);
  }

  /**
   * The spans of traces, as they came. One that was sent twice is there once: as it came last, as backends have it.
   *
   * @param {Uint8Array[]} traces Their ids.
   * @param {number} bytes The most that they may have.
   * @returns {StoredSpans}
   * @throws {Refusal} 413: they have more.
   */
  spansOf(traces, bytes) {
    const wanted = new Set(traces.map((trace) => Buffer.from(trace).toString("latin1")));
    /** @type {Map<unknown, Span>} */
    const spans = new Map();
    /** @type {StoredSpans["leftOut"]} */
    const leftOut = [];
    let sum = 0;
    for (const stored of this.#bodies(traces)) {
      const { found, reason } = spansIn(stored, wanted);
      if (reason !== undefined) leftOut.push({ body: stored.id, reason });
      for (const span of found) {
        sum += span.bytes.length - (spans.get(span.key)?.bytes.length ?? 0);
        if (sum > bytes) throw new Refusal(413, `these traces have more than ${bytes} bytes; ask for fewer at once`);
        spans.delete(span.key);
        spans.set(span.key, span);
      }
    }
    return { requests: requestsOf([...spans.values()]), spans: spans.size, leftOut };
  }

  /** @param {Uint8Array[]} traces @returns {Generator<StoredBody>} */
  *#bodies(traces) {
    for (let position = 0; ; ) {
      const page = this.#traces.bodiesOf(traces, position, PAGE_BYTES);
      if (page.length === 0) return;
      yield* page;
      position = page[page.length - 1].id;
    }
  }

  close() {
    this.#database.close();
  }
}

/** @param {StoredBody} stored @param {Set<string>} wanted @returns {{ found: Span[], reason?: string }} With a reason, nothing of it can be had. */
function spansIn({ body, contentType }, wanted) {
  try {
    const bytes = contentType === JSON_TYPE ? toProtobuf(body) : body;
    return { found: [...spansOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), wanted)] };
  } catch (error) {
    return { found: [], reason: /** @type {Error} */ (error).message };
  }
}

/** @param {Span[]} spans @returns {Uint8Array[]} */
function requestsOf(spans) {
  const requests = [];
  for (let from = 0, end = 0; from < spans.length; from = end) {
    let bytes = 0;
    do bytes += spans[end++].bytes.length;
    while (end < spans.length && bytes + spans[end].bytes.length <= REQUEST_BYTES);
    requests.push(joined(spans.slice(from, end)));
  }
  return requests;
}
