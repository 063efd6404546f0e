/** The queue of one collector: bodies are put in by its receiver, taken out by its worker, or both. */
import { Connection } from "./connection.js";
import { Publisher } from "./publisher.js";
import { makeConsumer, makeStream, namesOf } from "./streams.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("../types.js").Queue} Queue */
/** @typedef {import("../types.js").QueueTarget} QueueTarget */

/**
 * Connects. A server that is away is no error: it is asked until it is there.
 *
 * @param {Context} context
 * @param {QueueTarget} target
 * @returns {Promise<Queue>}
 * @throws {Error} What will not be well by itself, in words.
 */
export async function openQueue(context, target) {
  const { url, options } = target;
  const isWorker = context.configuration.exports.length > 0;
  const { stream, deadStream } = namesOf(options);
  const connection = new Connection(target, async ({ manager }) => {
    await makeStream(manager, options);
    return isWorker ? makeConsumer(manager, options) : undefined;
  }, context.log);
  await connection.open();
  const publisher = new Publisher(context, target, connection);
  // What works takes its time to load, and is of no use to those who only receive.
  const worker = isWorker ? new (await import("./worker.js")).Worker(context, target, connection) : undefined;

  /** What a stream holds; nothing if it is not there, or the server is away. @param {string} name */
  const held = async (name) => {
    try {
      return (await connection.ask(({ manager }) => manager.streams.info(name))).state;
    } catch {
      return undefined;
    }
  };
  return {
    add: (body, contentType) => publisher.add(body, contentType),
    async health() {
      const [waiting, dead] = await Promise.all([held(stream), held(deadStream)]);
      const problem = connection.problem ?? publisher.problem;
      return {
        url, stream, ready: problem === undefined, ...(problem && { problem }),
        messages: waiting?.messages, bytes: waiting?.bytes, deadLetters: dead?.messages,
      };
    },
    stop: async () => worker?.close(),
    close: () => connection.close(),
  };
}
