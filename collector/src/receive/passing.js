/** The way of a body without a store: enriched, sent to every export, and answered for when all of them have answered. */
import { PROTOBUF } from "./answers.js";
import { createClient } from "./client.js";
import { enriched, saysNothing } from "./enriched.js";
import { createExports, sendToAll } from "./exports.js";
import { Gathering } from "./gathering.js";
import { countSpans, isEmpty } from "./span-count.js";
import { isOfAll, verdict } from "./verdict.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("./verdict.js").Passed} Passed */

/** @param {Context} context @returns {import("./receiver.js").Taking} */
export function passing(context) {
  const client = createClient();
  const exports = createExports(context.configuration.exports, client.fetch);
  const pass = async (/** @type {import("./exports.js").Body} */ body) => /** @type {Passed} */ (await passOn(context, exports, body));
  const canGather = exports.every(({ isJoined }) => isJoined);
  const gathering = new Gathering(
    (body) => pass({ body, contentType: PROTOBUF }),
    (body) => passOn(context, exports, { body, contentType: PROTOBUF }, { isOfSeveral: true }),
  );
  return {
    async take(body, contentType) {
      if (isEmpty(body, contentType)) return undefined;
      const count = () => countSpans(body, contentType);
      const { results, warnings } = await (canGather && contentType === PROTOBUF ? gathering.pass(body) : pass({ body, contentType }));
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
async function passOn(context, exports, given, { isOfSeveral = false } = {}) {
  const ready = await enriched(context, "receive", given, isOfSeveral ? { isWanted: saysNothing } : {});
  if (!ready) return undefined;
  const { body, contentType, warnings } = ready;
  const passed = { results: body ? await sendToAll(exports, { body, contentType }, context.metrics) : [], warnings };
  return isOfSeveral && !isOfAll(passed) ? undefined : passed;
}
