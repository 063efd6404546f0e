/** Runs files of tests; fails also where a test was skipped or a file has none, for that would look like success. */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";

/**
 * Whether every file had tests and every test ran and passed.
 *
 * @param {string} folder
 * @param {{ words: string[], concurrency: number }} options Only files with one of the words in their name, if there are words.
 */
export async function runStrictly(folder, { words, concurrency }) {
  const isWanted = (/** @type {string} */ name) => words.length === 0 || words.some((word) => name.includes(word));
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.js") && isWanted(name)).map((name) => join(folder, name));
  const stream = run({ files, concurrency });
  /** @type {string[]} */
  const wrong = [];
  let ran = 0;
  stream.on("test:fail", ({ name }) => wrong.push(`failed: ${name}`));
  stream.on("test:pass", ({ name, skip, todo }) => {
    if (skip || todo) wrong.push(`did not run: ${name}`);
    // A file without tests passes as one test with the name of the file.
    else if (files.includes(name)) wrong.push(`has no tests: ${name}`);
    else ran++;
  });
  stream.compose(/** @type {any} */ (new spec())).pipe(process.stdout);
  await once(stream, "end");
  if (ran === 0) wrong.push("no test ran");
  for (const line of wrong) console.error(line);
  return wrong.length === 0;
}
