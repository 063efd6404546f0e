/**
 * Runs the tests of this folder one after the other, for each has servers of its own.
 *
 *   node tests/collector/run.js          all of them
 *   node tests/collector/run.js relay    those with one of these words in the name of their file
 */
import { fileURLToPath } from "node:url";
import { runStrictly } from "../strictly.js";

const isGood = await runStrictly(fileURLToPath(new URL(".", import.meta.url)), { words: process.argv.slice(2), concurrency: 1 });
process.exit(isGood ? 0 : 1);
