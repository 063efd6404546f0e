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
  const closing = new AbortController();

  app.get(PATH, async (request, reply) => {
    const { after, limit, wait } = asked(request.query);
    const changes = await changesIn(store, { after, limit, millis: wait * 1000 }, endOf(request, closing.signal));
    return reply.headers(HEADERS).send(changes);
  });

  app.get(`${PATH}/*`, async (request, reply) => {
    const ids = idsIn(/** @type {{ "*": string }} */ (request.params)["*"]);
    const { requests, spans, leftOut } = await store.spansOf(ids, context.configuration.limits.heldBytes);
    if (spans === 0 && leftOut.length === 0) throw new Refusal(404, "the store has none of these traces; they may have been pruned");
    const { isRaw } = asked(request.query);
    const { bodies, undecoded } = isRaw ? { bodies: requests, undecoded: [] } : await enriched(context, requests);
    return reply.headers({ ...HEADERS, ...headerOf({ leftOut, undecoded }) }).type(PROTOBUF).send(Buffer.concat(bodies));
  });

  return () => closing.abort();
}

/**
 * @param {Store} store
 * @param {{ after: number, limit: number, millis: number }} wanted `millis`: how long to wait if there is nothing.
 * @param {AbortSignal} end Of the waiting.
 */
async function changesIn(store, { after, limit, millis }, end) {
  const until = AbortSignal.any([end, AbortSignal.timeout(millis)]);
  for (;;) {
    // Listened to before it is asked, or what comes in between would go unheard.
    const added = additionTo(store, until);
    const changes = await store.changed(after, limit);
    if (changes.traces.length > 0 || until.aborted) return changes;
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

/** When nobody waits for the answer any more. @param {import("fastify").FastifyRequest} request @param {AbortSignal} closing */
function endOf({ raw }, closing) {
  const gone = new AbortController();
  raw.socket.once("close", () => gone.abort());
  return AbortSignal.any([closing, gone.signal]);
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
