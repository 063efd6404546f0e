/** Bodies that no worker could deliver, in a stream of their own, each with the reason. */
import { headers } from "@nats-io/transport-node";
import { namesOf } from "./streams.js";

/** @typedef {import("@nats-io/jetstream").JsMsg} JsMsg */
/** Why a body could not be delivered. @typedef {{ reason: string, exports?: string[], status?: number }} Cause */

/** Headers are one line, and short. */
const REASON_CHARS = 1000;
/** What tells how to read a body, and stays with it. */
export const KEPT = ["Content-Type", "Content-Encoding"];

/**
 * Stores one.
 *
 * @param {import("./connection.js").Session} session
 * @param {import("../types.js").QueueTarget["options"]} options
 * @param {JsMsg} message
 * @param {Cause} cause
 */
export async function bury({ client }, options, message, { reason, exports = [], status }) {
  const fields = headers();
  for (const name of KEPT) {
    if (message.headers?.has(name)) fields.set(name, message.headers.get(name));
  }
  fields.set("Token2text-Reason", reason.replace(/[\u0000-\u001f\u007f]+/g, " ").slice(0, REASON_CHARS));
  if (exports.length > 0) fields.set("Token2text-Export", exports.join(", "));
  if (status !== undefined) fields.set("Token2text-Status", String(status));
  fields.set("Token2text-Received", message.time.toISOString());
  fields.set("Token2text-Deliveries", String(message.info.deliveryCount));
  const { stream, deadSubject } = namesOf(options);
  // Once, if the worker is lost before the message is acknowledged.
  await client.publish(deadSubject, message.data, { headers: fields, msgID: `${stream} ${message.seq}` });
}
