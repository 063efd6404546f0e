/** The way of a body to the exports: enriched, and sent to every one of them. */
import { PROTOBUF } from "./answers.js";
import { createClient } from "./client.js";
import { enriched, saysNothing } from "./enriched.js";
import { createExports, sendToAll } from "./exports.js";
import { Gathering } from "./gathering.js";
import { countSpans, isEmpty } from "./span-count.js";
import { isOfAll, verdict } from "./verdict.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("./verdict.js").Passed} Passed */
/** A body of OTLP, not compressed. @typedef {{ body: Buffer, contentType: string }} Body */

/** Of those that are received. */
const LISTENER = "receive";

/** @param {Context} context @returns {import("./receiver.js").Taking} */
export function passing(context) {
  const { pass, close } = createPassing(context, LISTENER);
  return {
    async take(body, contentType) {
      if (isEmpty(body, contentType)) return undefined;
      const count = () => countSpans(body, contentType);
      const { results, warnings } = await pass({ body, contentType });
      return verdict(results, count, warnings);
    },
    close,
  };
}

/**
 * @param {Context} context
 * @param {string} listener Where bodies come from: a label of the metrics.
 * @returns {{ pass: (body: Body) => Promise<Passed>, close: () => Promise<void> }}
 * @throws {Error} An option that an exporter does not have; the message names the export.
 */
export function createPassing(context, listener) {
  const client = createClient();
  const exports = createExports(context.configuration.exports, client.fetch);
  const pass = async (/** @type {Body} */ body) => /** @type {Passed} */ (await passOn(context, exports, listener, body));
  const canGather = exports.every(({ isJoined }) => isJoined);
  const gathering = new Gathering(
    (body) => pass({ body, contentType: PROTOBUF }),
    (body) => passOn(context, exports, listener, { body, contentType: PROTOBUF }, { isOfSeveral: true }),
  );
  return {
    pass: (given) => (canGather && given.contentType === PROTOBUF ? gathering.pass(given.body) : pass(given)),
    close: () => client.close(),
  };
}

/**
 * Enriches a body and exports it.
 *
 * @param {Context} context
 * @param {import("./exports.js").Export[]} exports
 * @param {string} listener
 * @param {import("./exports.js").Body} given
 * @param {{ isOfSeveral?: boolean }} [options] Whether it is made of several requests.
 * @returns {Promise<Passed | undefined>} Nothing, of several requests, if what there is to say may be about one of them.
 */
async function passOn(context, exports, listener, given, { isOfSeveral = false } = {}) {
  const ready = await enriched(context, listener, given, isOfSeveral ? { isWanted: saysNothing } : {});
  if (!ready) return undefined;
  const { body, contentType, warnings } = ready;
  const passed = { results: body ? await sendToAll(exports, { body, contentType }, context.metrics) : [], warnings };
  return isOfSeveral && !isOfAll(passed) ? undefined : passed;
}
