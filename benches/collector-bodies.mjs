/** The bodies of `collector.mjs`, the same in every process. */
import { randomBytes } from "node:crypto";
import { asOtlp, asProto, chats, longRecord, manyRecords } from "./spans.mjs";

const KIB = 1024;
/** How many of one size. */
export const DISTINCT = 8;

/** Bodies by name: so many, all of one size. @type {Record<string, (number: number) => Buffer>} */
const BODIES = {
  "1 span of 145 KiB, ids": (number) => asProto(asOtlp([longRecord(145 * KIB, number)])),
  "64 KiB of short spans, ids": (number) => asProto(asOtlp(manyRecords((64 + number) * KIB).slice(number))),
  "64 KiB of short spans, no ids": (number) => asProto(asOtlp(chats((64 + number) * KIB).slice(number))),
  "1 short span, ids": (number) => asProto(asOtlp(manyRecords(KIB).slice(0, 1).map((record) => record.replaceAll("agent_loop", `agent_loop${number}`)))),
};
/** @type {Map<string, Buffer[]>} */
const made = new Map();

/** @param {string} name */
export function bodiesOf(name) {
  const bodies = made.get(name) ?? Array.from({ length: DISTINCT }, (_, number) => BODIES[name](number));
  made.set(name, bodies);
  return bodies;
}

/** A field that nobody knows, a number of 64 bits. */
const UNKNOWN = Buffer.from([(15 << 3) | 1]);

/** So many bodies of which no two are the same, or a queue would take one for the other sent again. @param {Buffer[]} bodies @param {number} count */
export function distinct(bodies, count) {
  return Array.from({ length: count }, (_, i) => Buffer.concat([bodies[i % bodies.length], UNKNOWN, randomBytes(8)]));
}
