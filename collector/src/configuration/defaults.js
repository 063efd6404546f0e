/** What holds where nothing was asked for. */
import { availableParallelism } from "node:os";

const MIB = 1 << 20;

/** @type {import("../types.js").Configuration} */
export const DEFAULTS = {
  tokenizers: [],
  tokenizerOptions: {},
  enrichment: { existing: "keep", skipSpecialTokens: false, ids: "keep", messages: true },
  relays: [],
  enrichReads: false,
  viewer: false,
  exports: [],
  store: { bytes: 8 * 1024 * MIB },
  sample: 1,
  // One core is left to the thread that passes requests on.
  workers: Math.max(1, Math.min(4, availableParallelism() - 1)),
  limits: {
    enrichMillis: 10_000,
    // OTLP's recommended limit after decompression (opentelemetry-proto, docs/specification.md).
    bodyBytes: 64 * MIB,
    heldBytes: 512 * MIB,
    workerBytes: 512 * MIB,
    drainMillis: 30_000,
  },
  access: { hosts: [], origins: [] },
  logLevel: "info",
};
