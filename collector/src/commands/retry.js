/** `token2text-collector retry`: has dead letters tried again. */
import { tryAgain } from "../forwarding/dead-letters.js";
import { WHICH, counted } from "./command.js";

/** @type {import("./command.js").Command} */
export const retry = {
  name: "retry",
  summary: "has dead letters tried again, all of them or some",
  details: `A collector that runs on the store tries them within seconds, another one when it starts. What is taken is a dead letter no more; what is
refused again stays one, with the new reason.
`,
  options: WHICH,
  run(database, which) {
    const count = tryAgain(database, which);
    return { text: `${counted(count)} will be tried again\n`, status: count === 0 ? 1 : 0 };
  },
};
