/** `token2text-collector give-up`: ends the waiting for exports that will never take something. */
import { giveUp } from "../forwarding/dead-letters.js";
import { WHICH, counted } from "./command.js";

/** @type {import("./command.js").Command} */
export const giveUpLetters = {
  name: "give-up",
  summary: "gives dead letters up: what they hold is never sent to that export",
  details: `It cannot be undone. What was received stays in the store until the space is needed.
`,
  options: { ...WHICH, all: { placeholder: "", help: "all of them" } },
  check({ export: name, id, all }) {
    const isNone = name === undefined && id === undefined && !all;
    if (isNone) return "say which: --id N, --export NAME, or --all";
    return all && (name !== undefined || id !== undefined) ? "--all means all of them; leave --export and --id out" : undefined;
  },
  run(database, which) {
    const letters = giveUp(database, which);
    const spans = letters.reduce((sum, letter) => sum + letter.spans, 0);
    return { text: `${counted(letters.length)} with ${counted(spans, "span")} given up\n`, status: letters.length === 0 ? 1 : 0 };
  },
};
