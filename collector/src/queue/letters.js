/** The dead letters of a queue, as people handle them: listed, put into the queue again, or given up. */
import { gunzipSync } from "node:zlib";
import { headers } from "@nats-io/transport-node";
import { createLog } from "../operations/log.js";
import { PROTOBUF } from "../receive/answers.js";
import { contentsOf } from "../store/contents.js";
import { Connection } from "./connection.js";
import { KEPT } from "./dead-letters.js";
import { namesOf } from "./streams.js";

/** @typedef {import("@nats-io/jetstream").StoredMsg} StoredMsg */
/** @typedef {import("../forwarding/dead-letters.js").Letter} Letter */
/** @typedef {import("../forwarding/dead-letters.js").Which} Which */

/** A stream that is not there has no letters (an error of JetStream). */
const NO_STREAM = 10059;

/**
 * @param {import("../types.js").QueueTarget} target
 * @returns {Promise<import("../commands/command.js").Letters>}
 * @throws {Error} The queue cannot be used, in words.
 */
export async function openLetters(target) {
  const { subject, deadStream } = namesOf(target.options);
  const connection = new Connection(target, async () => undefined, createLog("silent"));
  await connection.open();
  if (connection.problem) await connection.close();
  const { client, manager } = connection.session;

  /** @param {Which} which @returns {Promise<{ message: StoredMsg, letter: Letter }[]>} */
  async function found({ export: name, ids }) {
    const state = await manager.streams.info(deadStream).then(({ state }) => state, (error) => {
      if (error.code === NO_STREAM) return { first_seq: 1, last_seq: 0 };
      throw error;
    });
    const letters = [];
    // An empty stream begins at 0.
    for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
      if (ids && !ids.includes(seq)) continue;
      const message = await manager.streams.getMessage(deadStream, { seq });
      const letter = message && letterOf(message);
      if (letter && (name === undefined || letter.export.split(", ").includes(name))) letters.push({ message, letter });
    }
    return letters;
  }

  return {
    list: async (which) => (await found(which)).map(({ letter }) => letter),
    async tryAgain(which) {
      const letters = await found(which);
      for (const { message: { seq, header, data } } of letters) {
        const fields = headers();
        for (const name of KEPT.filter((name) => header.has(name))) fields.set(name, header.get(name));
        // Once, if this ends before the letter is taken away.
        await client.publish(subject, data, { headers: fields, msgID: `${deadStream} ${seq}` });
        await manager.streams.deleteMessage(deadStream, seq);
      }
      return letters.length;
    },
    async giveUp(which) {
      const letters = await found(which);
      for (const { message } of letters) await manager.streams.deleteMessage(deadStream, message.seq);
      return letters.map(({ letter }) => letter);
    },
    close: () => connection.close(),
  };
}

/** @param {StoredMsg} message @returns {Letter} */
function letterOf({ seq, header, data, time }) {
  const status = header.get("Token2text-Status");
  return {
    id: seq,
    export: header.get("Token2text-Export"),
    ...contents(header, data),
    bytes: data.length,
    receivedAt: header.get("Token2text-Received"),
    refusedAt: time.toISOString(),
    attempts: Number(header.get("Token2text-Deliveries")),
    status: status ? Number(status) : null,
    reason: header.get("Token2text-Reason"),
    isDue: false,
  };
}

/** Of what is no request, nothing is known. @param {StoredMsg["header"]} header @param {Uint8Array} data */
function contents(header, data) {
  try {
    const body = header.get("Content-Encoding") === "gzip" ? gunzipSync(data) : Buffer.from(data);
    const { spans, traces } = contentsOf(body, header.get("Content-Type") || PROTOBUF);
    return { spans, traces: traces.map((id) => id.toString("hex")) };
  } catch {
    return { spans: 0, traces: [] };
  }
}
