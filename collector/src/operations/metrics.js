/** Counters and times for Prometheus. README.md lists them from the tables of this file. */
import { readFileSync } from "node:fs";
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";

/** @typedef {import("../types.js").Metrics} Metrics */
/** @typedef {{ name: string, help: string, labels: string[] }} Row */

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/** From a body of a few ids to one of 64 MiB, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** @satisfies {Record<string, Row>} */
export const COUNTERS = {
  requests: { name: "token2text_requests_total", help: "Requests that arrived; kind: write or read of traces, other", labels: ["listener", "kind"] },
  answers: { name: "token2text_answers_total", help: "Answers given; status 0: closed as the backend closed", labels: ["listener", "status"] },
  bodies: { name: "token2text_bodies_total", help: "Bodies of traces; outcome: enriched, unchanged (no ids in it), undecoded", labels: ["listener", "outcome"] },
  undecoded: { name: "token2text_undecoded_total", help: "Bodies that went on as they came, by reason", labels: ["listener", "reason"] },
  fields: { name: "token2text_fields_total", help: "Fields of token ids; status: decoded, replaced, kept (text was there), skipped", labels: ["listener", "status"] },
  skipped: { name: "token2text_skipped_fields_total", help: "Fields by the reason for which they were skipped or their ids not dropped", labels: ["listener", "reason"] },
  conversations: { name: "token2text_conversations_total", help: "Conversations by outcome: written, or the reason for which none was", labels: ["listener", "outcome"] },
  ids: { name: "token2text_ids_total", help: "Token ids in fields", labels: ["listener"] },
  unknownIds: { name: "token2text_unknown_ids_total", help: "Token ids that the tokenizer does not know", labels: ["listener"] },
  leftOut: { name: "token2text_left_out_total", help: "Spans, calls and entries of no sample that is in: undecoded by relays, not exported by the receiver", labels: ["listener"] },
  exports: { name: "token2text_exports_total", help: "Exports that ended; status: success, retryable, failure", labels: ["backend", "status"] },
  stored: { name: "token2text_stored_bodies_total", help: "Bodies that were stored", labels: [] },
  notStored: { name: "token2text_not_stored_total", help: "Bodies that the store had no room for: their senders were told to try again later", labels: [] },
  pruned: { name: "token2text_pruned_bodies_total", help: "Stored bodies that were pruned; reason: size, age", labels: ["reason"] },
  retries: { name: "token2text_forward_retries_total", help: "Requests from the store that an export did not take and that are sent again", labels: ["export"] },
};

/** @satisfies {Record<string, Row>} */
export const HISTOGRAMS = {
  enrichSeconds: { name: "token2text_enrich_seconds", help: "Time of enriching a body, with waiting for a worker", labels: ["listener"] },
  requestSeconds: { name: "token2text_request_seconds", help: "Time from the arrival of a request to the end of its answer", labels: ["listener"] },
  exportSeconds: { name: "token2text_export_seconds", help: "Time of an export", labels: ["backend"] },
  storeSeconds: { name: "token2text_store_seconds", help: "Time of a transaction that stored bodies", labels: [] },
};

/** @satisfies {Record<string, Row>} */
export const GAUGES = {
  held: { name: "token2text_held_bytes", help: "Bytes of bodies that are held now", labels: [] },
  ready: { name: "token2text_ready", help: "1 if bodies are decoded, else 0", labels: [] },
  workers: { name: "token2text_workers", help: "Threads that decode", labels: [] },
  tokenizers: { name: "token2text_tokenizer_loaded", help: "1 if the file of a tokenizer is loaded as it is now, 0 if an older one is used", labels: ["pattern"] },
  storeBytes: { name: "token2text_store_bytes", help: "Bytes in use in the store", labels: [] },
  storeBodies: { name: "token2text_store_bodies", help: "Bodies in the store", labels: [] },
  behindBodies: { name: "token2text_export_behind_bodies", help: "Stored bodies that an export has not settled yet", labels: ["export"] },
  behindBytes: { name: "token2text_export_behind_bytes", help: "Their bytes", labels: ["export"] },
  behindSeconds: { name: "token2text_export_behind_seconds", help: "The age of the oldest of them", labels: ["export"] },
  dead: { name: "token2text_dead_letters", help: "Stored bodies that an export has refused for good", labels: ["export"] },
  refusing: { name: "token2text_store_refusing", help: "1 if the store has no room, else 0", labels: [] },
  info: { name: "token2text_info", help: "1, with the version", labels: ["version"] },
};

/**
 * Makes the metrics of one collector, in a registry of their own.
 *
 * @returns {Metrics}
 * @example
 *   const metrics = createMetrics();
 *   metrics.received({ listener: "relay mlflow", kind: "write" });
 *   await metrics.text(); // 'token2text_requests_total{listener="relay mlflow",kind="write"} 1' and others
 */
export function createMetrics() {
  const registry = new Registry();
  const counters = made(COUNTERS, (row) => new Counter({ ...row, registers: [registry] }));
  const histograms = made(HISTOGRAMS, (row) => new Histogram({ ...row, buckets: BUCKETS, registers: [registry] }));
  const gauges = made(GAUGES, (row) => new Gauge({ ...row, registers: [registry] }));
  collectDefaultMetrics({ register: registry });
  gauges.info.set({ version }, 1);

  return {
    contentType: registry.contentType,
    received: ({ listener, kind }) => counters.requests.inc({ listener, kind }),
    enriched({ listener }, result, seconds) {
      counters.bodies.inc({ listener, outcome: result.outcome });
      // What was never offered to a worker has no time of enriching.
      if (seconds > 0) histograms.enrichSeconds.observe({ listener }, seconds);
      if (result.leftOut) counters.leftOut.inc({ listener }, result.leftOut);
      if (result.outcome === "undecoded") return counters.undecoded.inc({ listener, reason: result.reason });
      const { decoded, replaced, kept, skipped, reasons, ids, unknownIds, messages = 0, noMessages = {} } = result.totals;
      for (const [status, count] of Object.entries({ decoded, replaced, kept, skipped })) counters.fields.inc({ listener, status }, count);
      for (const [reason, count] of Object.entries(reasons)) counters.skipped.inc({ listener, reason }, count);
      for (const [outcome, count] of Object.entries({ written: messages, ...noMessages })) counters.conversations.inc({ listener, outcome }, count);
      counters.ids.inc({ listener }, ids);
      counters.unknownIds.inc({ listener }, unknownIds);
    },
    answered({ listener, status }, seconds) {
      counters.answers.inc({ listener, status });
      histograms.requestSeconds.observe({ listener }, seconds);
    },
    exported({ backend, status }, seconds) {
      counters.exports.inc({ backend, status });
      histograms.exportSeconds.observe({ backend }, seconds);
    },
    retried: ({ export: name }) => counters.retries.inc({ export: name }),
    held: (bytes) => gauges.held.inc(bytes),
    stored(bodies, seconds) {
      counters.stored.inc(bodies);
      histograms.storeSeconds.observe(seconds);
    },
    notStored: () => counters.notStored.inc(),
    pruned: (reason, bodies) => counters.pruned.inc({ reason }, bodies),
    text(health, facts) {
      if (health) {
        gauges.ready.set(health.ready ? 1 : 0);
        gauges.workers.set(health.workers);
        for (const { pattern, error } of health.tokenizers) gauges.tokenizers.set({ pattern }, error === undefined ? 1 : 0);
      }
      if (facts) {
        gauges.storeBytes.set(facts.bytes);
        gauges.storeBodies.set(facts.bodies);
        gauges.refusing.set(facts.refusing === undefined ? 0 : 1);
        for (const [name, { bodies, bytes, seconds }] of Object.entries(facts.behind)) {
          gauges.behindBodies.set({ export: name }, bodies);
          gauges.behindBytes.set({ export: name }, bytes);
          gauges.behindSeconds.set({ export: name }, seconds);
        }
        gauges.dead.reset();
        for (const [name, dead] of Object.entries(facts.dead)) gauges.dead.set({ export: name }, dead);
      }
      return registry.metrics();
    },
  };
}

/**
 * @template {Record<string, Row>} Table
 * @template Made
 * @param {Table} table
 * @param {(row: { name: string, help: string, labelNames: string[] }) => Made} make
 * @returns {Record<keyof Table, Made>}
 */
function made(table, make) {
  const entries = Object.entries(table).map(([key, { name, help, labels }]) => [key, make({ name, help, labelNames: labels })]);
  return Object.fromEntries(entries);
}
