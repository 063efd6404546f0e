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
  const { stream, consumer, deadStream } = namesOf(options);
  const connection = new Connection(target, async ({ manager }) => {
    await makeStream(manager, options);
    return isWorker ? makeConsumer(manager, options) : undefined;
  }, context.log);
  await connection.open();
  const publisher = new Publisher(context, target, connection);
  // What works takes its time to load, and is of no use to those who only receive.
  const worker = isWorker ? new (await import("./worker.js")).Worker(context, target, connection) : undefined;

  /** What a stream or the consumer says of itself; nothing if it is not there, or the server is away. @template Info @param {(manager: import("@nats-io/jetstream").JetStreamManager) => Promise<Info>} of */
  const asked = (of) => connection.ask(({ manager }) => of(manager)).catch(() => undefined);
  return {
    add: (body, contentType) => publisher.add(body, contentType),
    async health() {
      const [{ state } = {}, waiting, dead] = await Promise.all([
        asked(({ streams }) => streams.info(stream)),
        asked(({ consumers }) => consumers.info(stream, consumer)),
        asked(({ streams }) => streams.info(deadStream)),
      ]);
      // A server that was killed may still have bodies in the stream that workers have settled; the consumer knows.
      const messages = waiting ? waiting.num_pending + waiting.num_ack_pending : state?.messages;
      const problem = connection.problem ?? publisher.problem;
      return {
        url, stream, ready: problem === undefined, ...(problem && { problem }),
        messages, bytes: state?.bytes, deadLetters: dead?.state.messages,
      };
    },
    stop: async () => worker?.close(),
    close: () => connection.close(),
  };
}
