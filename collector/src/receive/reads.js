/** What a store has, for those who read: which traces have changed, and their spans with texts. */
import { PROTOBUF } from "./answers.js";
import { PATH } from "./path.js";
import { Refusal } from "./refusal.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("../types.js").Store} Store */
/** What could not be given as it should be. @typedef {{ leftOut: { body: number, reason: string }[], undecoded: string[] }} Missing */

const HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" };
const MOST_TRACES = 50;
/** How many changed traces one answer has, if nothing else is asked for. */
const CHANGES = 100;
const MOST_CHANGES = 1000;
const MOST_WAIT_SECONDS = 30;
/** A header is no place for more. */
const MOST_MISSING = 20;

/**
 * Adds the routes.
 *
 * - `GET /v1/traces?after=N&limit=N&wait=SECONDS`: JSON of `{ traces: [{ traceId, bodies, bytes, changed }], next }`.
 * - `GET /v1/traces/ID,ID,...?raw=true`: one request of OTLP in protocol buffers. What is missing of it is in the header `token2text-missing`.
 *
 * @param {import("fastify").FastifyInstance} app
 * @param {Context} context
 * @param {Store} store
 * @returns {() => void} Ends all waiting.
 */
export function addReads(app, context, store) {
  /** Each ends the waiting of one request. @type {Set<() => void>} */
  const waiting = new Set();

  app.get(PATH, async (request, reply) => {
    const { after, limit, wait } = asked(request.query);
    const end = new AbortController();
    const stop = () => end.abort();
    const timer = setTimeout(stop, wait * 1000);
    reply.raw.once("close", stop);
    waiting.add(stop);
    try {
      return await reply.headers(HEADERS).send(await changesIn(store, after, limit, end.signal));
    } finally {
      clearTimeout(timer);
      waiting.delete(stop);
      stop();
    }
  });

  app.get(`${PATH}/*`, async (request, reply) => {
    const ids = idsIn(/** @type {{ "*": string }} */ (request.params)["*"]);
    const { requests, spans, leftOut } = await store.spansOf(ids, context.configuration.limits.heldBytes);
    if (spans === 0 && leftOut.length === 0) throw new Refusal(404, "the store has none of these traces; they may have been pruned");
    const { isRaw } = asked(request.query);
    const { bodies, undecoded } = isRaw ? { bodies: requests, undecoded: [] } : await enriched(context, requests);
    return reply.headers({ ...HEADERS, ...headerOf({ leftOut, undecoded }) }).type(PROTOBUF).send(Buffer.concat(bodies));
  });

  return () => waiting.forEach((stop) => stop());
}

/** @param {Store} store @param {number} after @param {number} limit @param {AbortSignal} end Of waiting, if there is nothing. */
async function changesIn(store, after, limit, end) {
  for (;;) {
    // Listened to before it is asked, or what comes in between would go unheard.
    const added = additionTo(store, end);
    const changes = await store.changed(after, limit);
    if (changes.traces.length > 0 || end.aborted) return changes;
    await added;
  }
}

/** Settles after the next addition, or at the end. @param {Store} store @param {AbortSignal} end @returns {Promise<void>} */
function additionTo(store, end) {
  return new Promise((resolve) => {
    const done = () => {
      forget();
      end.removeEventListener("abort", done);
      resolve();
    };
    const forget = store.onAdded(done);
    end.addEventListener("abort", done);
    if (end.aborted) done();
  });
}

/** @param {Context} context @param {Uint8Array[]} requests */
async function enriched({ enrichments, configuration, metrics }, requests) {
  /** @type {Uint8Array[]} */
  const bodies = [];
  /** @type {string[]} */
  const undecoded = [];
  // As many at once as there are threads: others would only wait in memory.
  for (let from = 0; from < requests.length; from += configuration.workers) {
    await Promise.all(requests.slice(from, from + configuration.workers).map(async (body, i) => {
      const start = performance.now();
      const result = await enrichments.enrich({ body, contentType: PROTOBUF, url: PATH });
      metrics.enriched({ listener: "read" }, result, (performance.now() - start) / 1000);
      bodies[from + i] = result.outcome === "undecoded" ? body : result.body;
      if (result.outcome === "undecoded") undecoded.push(result.message);
    }));
  }
  return { bodies, undecoded };
}

/** In ASCII, as headers are. @param {Missing} missing @returns {Record<string, string>} */
function headerOf({ leftOut, undecoded }) {
  if (leftOut.length === 0 && undecoded.length === 0) return {};
  const shown = { leftOut: leftOut.slice(0, MOST_MISSING), undecoded: undecoded.slice(0, MOST_MISSING) };
  const json = JSON.stringify(shown).replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return { "token2text-missing": json };
}

/** @param {unknown} query */
function asked(query) {
  const { after, limit, wait, raw } = /** @type {Record<string, unknown>} */ (query);
  return {
    after: wholeNumber("after", after, 0),
    limit: Math.min(MOST_CHANGES, Math.max(1, wholeNumber("limit", limit, CHANGES))),
    wait: Math.min(MOST_WAIT_SECONDS, wholeNumber("wait", wait, 0)),
    isRaw: raw === "true",
  };
}

/** @param {string} name @param {unknown} value @param {number} fallback */
function wholeNumber(name, value, fallback) {
  if (value === undefined) return fallback;
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value);
  throw new Refusal(400, `${name} is not a whole number`);
}

/** @param {string} text */
function idsIn(text) {
  const ids = text.split(",");
  if (ids.length > MOST_TRACES) throw new Refusal(400, `at most ${MOST_TRACES} traces are given at once`);
  for (const id of ids) if (!/^(?:[\da-f]{2})*$/i.test(id)) throw new Refusal(400, "a trace id is hexadecimal; write several with commas between");
  return ids;
}
