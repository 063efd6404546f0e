/** The way of a body without a store: enriched, sent to every export, and answered for when all of them have answered. */
import { PROTOBUF } from "./answers.js";
import { createClient } from "./client.js";
import { createExports, sendToAll } from "./exports.js";
import { Gathering } from "./gathering.js";
import { PATH } from "./path.js";
import { countSpans, isEmpty } from "./span-count.js";
import { isOfAll, verdict } from "./verdict.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("./verdict.js").Passed} Passed */
const LISTENER = { listener: "receive" };

/** @param {Context} context @returns {import("./receiver.js").Taking} */
export function passing(context) {
  const client = createClient();
  const exports = createExports(context.configuration.exports, client.fetch);
  const pass = async (/** @type {import("./exports.js").Body} */ body) => /** @type {Passed} */ (await passOn(context, exports, body));
  const gathering = new Gathering(
    (body) => pass({ body, contentType: PROTOBUF }),
    (body) => passOn(context, exports, { body, contentType: PROTOBUF }, { isOfSeveral: true }),
  );
  return {
    async take(body, contentType) {
      if (isEmpty(body, contentType)) return undefined;
      const count = () => countSpans(body, contentType);
      const { results, warnings } = await (contentType === PROTOBUF ? gathering.pass(body) : pass({ body, contentType }));
      return verdict(results, count, warnings);
    },
    close: () => client.close(),
  };
}

/**
 * Enriches a body and exports it.
 *
 * @param {Context} context
 * @param {import("./exports.js").Export[]} exports
 * @param {import("./exports.js").Body} given
 * @param {{ isOfSeveral?: boolean }} [options] Whether it is made of several requests.
 * @returns {Promise<Passed | undefined>} Nothing, of several requests, if what there is to say may be about one of them.
 */
async function passOn({ enrichments, metrics }, exports, { body: given, contentType }, { isOfSeveral = false } = {}) {
  const start = performance.now();
  const result = await enrichments.enrich({ body: given, contentType, url: PATH, sampling: "select" });
  const isDecoded = result.outcome !== "undecoded";
  const isLeftOut = !isDecoded && result.reason === "not_sampled";
  if (isOfSeveral && !isLeftOut && (!isDecoded || result.warnings.length > 0)) return undefined;
  metrics.enriched(LISTENER, result, (performance.now() - start) / 1000);
  if (isLeftOut) return { results: [], warnings: [] };
  // What is no request is found by counting, before a backend finds it.
  const warnings = isDecoded ? result.warnings.map(({ message }) => message) : [`${countSpans(given, contentType)} spans forwarded undecoded: ${result.message}`];
  const body = isDecoded ? result.body : given;
  const passed = { results: await sendToAll(exports, { body, contentType }, metrics), warnings };
  return isOfSeveral && !isOfAll(passed) ? undefined : passed;
}
