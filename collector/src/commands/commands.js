/** The commands beside serving, by their names. */
import { deadLetters } from "./dead-letters.js";
import { giveUpLetters } from "./give-up.js";
import { retry } from "./retry.js";

/** @type {import("./command.js").Command[]} */
export const COMMANDS = [deadLetters, retry, giveUpLetters];
