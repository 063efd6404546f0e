/** Spans that are sent to a collector, and what a backend must have of them: each once, with texts, everything else as it was. */
import assert from "node:assert/strict";
import { splitSpans } from "../../../pkg/exporters/otlp-request.js";
import { toProtobuf } from "../../../pkg/exporters/otlp-json.js";
import { freshId, request } from "../../integration/support/fixtures.js";
import { enricherOf } from "./bodies.js";

export const PROTOBUF = "application/x-protobuf";
export const JSON_TYPE = "application/json";
/** A body, as it is sent. @typedef {{ body: Uint8Array, contentType: string }} Sent */

const enricher = enricherOf("qwen3");
let made = 0;

/**
 * A request with a trace of its own: a root, and spans below it.
 *
 * @param {number} [count] Of spans.
 * @param {Record<string, string>} [attributes] More of the root.
 * @returns {Sent}
 */
export function traceOf(count = 2, attributes = {}) {
  const trace = freshId(16);
  const root = freshId(8);
  const spans = Array.from({ length: count }, (_, i) => ({
    trace,
    span: i === 0 ? root : freshId(8),
    ...(i > 0 && { parent: root }),
    name: i === 0 ? "rollout" : "generate",
    attributes: { "mlflow.spanOutputs": `{"token_ids":[52491,83592,${++made % 100_000}]}`, number: BigInt(made), share: made / 7, ...(i === 0 && attributes) },
  }));
  return { body: request(...spans), contentType: PROTOBUF };
}

/** A request in JSON, of one span. @returns {Sent} */
export function jsonTrace() {
  const attributes = [{ key: "mlflow.spanOutputs", value: { stringValue: `{"token_ids":[52491,83592,${++made % 100_000}]}` } }];
  const span = { traceId: freshId(16), spanId: freshId(8), name: "generate", startTimeUnixNano: "1795959821228781779", endTimeUnixNano: "1795959821233781780", attributes };
  return { body: Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })), contentType: JSON_TYPE };
}

/** The bytes of the spans in a body, by their ids. @param {Sent} body @returns {[id: string, bytes: Buffer][]} */
export function spansIn({ body, contentType }) {
  return splitSpans(contentType === JSON_TYPE ? toProtobuf(body) : body).map(({ spanId, bytes }) => [spanId, Buffer.from(bytes)]);
}

/** Spans that were acknowledged, as a backend must have them. */
export class Acknowledged {
  /** @type {Map<string, Buffer>} */
  #spans = new Map();

  /** @param {Sent} sent @param {{ isDecoded?: boolean }} [options] */
  add({ body, contentType }, { isDecoded = true } = {}) {
    const expected = isDecoded ? enricher.enrichBody(body, { contentType, url: "/v1/traces" }).body : body;
    for (const [id, bytes] of spansIn({ body: expected, contentType })) this.#spans.set(id, bytes);
  }

  get count() {
    return this.#spans.size;
  }

  /** How many of them are in these bodies. @param {Sent[]} bodies */
  in(bodies) {
    return new Set(bodies.flatMap(spansIn).map(([id]) => id).filter((id) => this.#spans.has(id))).size;
  }

  /**
   * Checks that bodies hold all of them, no others, and each as it must be.
   *
   * @param {Sent[]} bodies
   * @param {{ isOnce?: boolean, but?: Sent[] }} [options] `isOnce`: none was sent twice; `but`: what is not to be there.
   */
  assertAllIn(bodies, { isOnce = true, but = [] } = {}) {
    const missing = new Map(this.#spans);
    for (const [id] of but.flatMap(spansIn)) assert.ok(missing.delete(id), `${id} was not acknowledged`);
    const expected = missing.size;
    const seen = new Set();
    for (const [id, bytes] of bodies.flatMap(spansIn)) {
      assert.ok(this.#spans.has(id), `${id} was not acknowledged`);
      assert.ok(this.#spans.get(id)?.equals(bytes), `${id} is another: ${bytes.toString("latin1")}`);
      assert.ok(!isOnce || !seen.has(id), `${id} was sent twice`);
      seen.add(id);
      missing.delete(id);
    }
    assert.deepEqual([seen.size, [...missing.keys()]], [expected, []], "spans are missing");
  }
}

/** What a sink has seen and taken. @param {import("./sink.js").Sunk[]} seen @returns {Sent[]} */
export function sentTo(seen) {
  return seen.map(({ headers, body }) => ({ body, contentType: String(headers["content-type"]) }));
}
