/** Runs the tests of this folder, which are no part of `make test`: Phoenix takes a minute to install, and has 850 MB. */
import { fileURLToPath } from "node:url";
import { runStrictly } from "../strictly.js";

const isGood = await runStrictly(fileURLToPath(new URL(".", import.meta.url)), { words: process.argv.slice(2), concurrency: 1 });
process.exit(isGood ? 0 : 1);
