/** A thread: enriches one body after the other. */
import { parentPort } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import { memoryBytes } from "token2text";
import { createBodies } from "./bodies.js";

/** @typedef {import("../types.js").Enrichment} Enrichment */
/** @typedef {import("./bodies.js").Body & { id: number }} Task */
/**
 * The answer to a body after which the thread ends, and why it does.
 *
 * @typedef {{ id: number, answer: Enrichment, reason: string }} LastWords
 */

const { workerBytes } = workerData.limits;
const bodies = await createBodies(workerData);
if (memoryBytes() > workerBytes) {
  const cure = `set limits.workerBytes to more than ${2 * memoryBytes()}`;
  throw new Error(`the tokenizers alone take ${memoryBytes()} bytes, more than a worker may have (${workerBytes}); ${cure}`);
}

/**
 * Without a task it tells that the thread is ready. An instance that failed may be broken, and one whose memory has grown keeps it:
 * the thread then ends, still busy, so that no other body is given to it; its last message has the answer.
 *
 * @param {Task} [task]
 */
export default function work(task) {
  if (!task) return undefined;
  const answer = bodies.enrich(task);
  const moved = answer.outcome === "enriched" ? [/** @type {ArrayBuffer} */ (answer.body.buffer)] : [];
  const isLost = answer.outcome === "undecoded" && answer.reason === "worker_lost";
  if (isLost) leave({ id: task.id, answer, reason: "token2text failed in it" }, moved);
  if (memoryBytes() > workerBytes) leave({ id: task.id, answer, reason: `its memory has grown to ${memoryBytes()} bytes` }, moved);
  return move(/** @type {any} */ ({ [transferableSymbol]: moved, [valueSymbol]: answer }));
}

/** @param {LastWords} words @param {ArrayBuffer[]} moved @returns {never} */
function leave(words, moved) {
  parentPort?.postMessage(words, moved);
  return process.exit();
}
