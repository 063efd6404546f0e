/** `token2text-collector dead-letters`: what exports have refused for good, and why. */
import { list } from "../forwarding/dead-letters.js";
import { escaped } from "../operations/log.js";
import { WHICH, counted } from "./command.js";

/** @type {import("./command.js").Command} */
export const deadLetters = {
  name: "dead-letters",
  summary: "lists what exports have refused for good, and why",
  details: `A dead letter is a request that was received and stored, and that one export does not take. It stays in the store until it is tried
again with success (token2text-collector retry) or given up (token2text-collector give-up).
`,
  options: { ...WHICH, json: { placeholder: "", help: "as JSON: a list, with the ids of the traces" } },
  run(database, which, { json }) {
    const letters = list(database, which);
    return { text: json ? `${JSON.stringify(letters, null, 2)}\n` : inWords(letters), status: 0 };
  },
};

/** @param {import("../forwarding/dead-letters.js").Letter[]} letters */
function inWords(letters) {
  const blocks = letters.map(({ id, export: name, spans, receivedAt, refusedAt, attempts, status, reason, isDue }) => [
    `${id}  ${escaped(name)}\n`,
    `   ${counted(spans, "span")}, received ${receivedAt}\n`,
    `   refused ${refusedAt} after ${counted(attempts, "attempt")}${status === null ? "" : `, status ${status}`}${isDue ? "; will be tried again" : ""}\n`,
    `   ${escaped(reason)}\n`,
  ]);
  return `${blocks.flat().join("")}${counted(letters.length)}\n`;
}
