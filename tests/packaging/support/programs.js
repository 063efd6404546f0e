/** The programs that run the behaviours in each way, as the files of a project. */

/** @typedef {import("../environments.js").Way} Way */
/** @typedef {Record<string, string>} Files */

/** @type {Record<Way, string>} */
export const SPECIFIERS = {
  main: "token2text",
  ownWorker: "token2text",
  client: "token2text/worker",
  inline: "token2text/inline",
};

/** The same as files, for pages whose browser resolves no package names. @type {Record<Way, string>} */
export const PATHS = {
  main: "./node_modules/token2text/index.js",
  ownWorker: "./node_modules/token2text/index.js",
  client: "./node_modules/token2text/worker.js",
  inline: "./node_modules/token2text/inline.js",
};

const RUN = `async function run() {
  const results = {};
  for (const engine of ["auto", "general"]) results[engine] = await runBehaviours(t2t, { engine });
  if ("terminate" in t2t) await t2t.terminate();
  return results;
}`;

const POST = `run().then((results) => post({ results }), (error) => post({ error: String(error) }));`;
const PRINT = "run().then((results) => console.log(JSON.stringify(results)));";
const POST_TO_PARENT = `const post = (message) => parentPort.postMessage(message);\n${POST}`;

/**
 * `run()`: the behaviours with both engines.
 *
 * @param {Way} way
 * @param {Record<Way, string>} [specifiers]
 * @param {string} [init] Arguments of an `init` before them.
 */
export function runModule(way, specifiers = SPECIFIERS, init) {
  return `import * as t2t from "${specifiers[way]}";
import { runBehaviours } from "./suite.js";
${RUN}
${init === undefined ? "export { run };" : `const runAfterInit = () => t2t.init(${init}).then(run);\nexport { runAfterInit as run };`}
`;
}

/** For Node, Bun and Deno: `main.mjs` prints the results. @param {Way} way @returns {Files} */
export function serverFiles(way) {
  const files = { "run.js": runModule(way) };
  if (way !== "ownWorker") return { ...files, "main.mjs": `import { run } from "./run.js";\n${PRINT}\n` };
  return {
    ...files,
    "main.mjs": `import { Worker } from "node:worker_threads";\n${printAnswer('new URL("./own-worker.js", import.meta.url)')}\n`,
    "own-worker.js": `import { parentPort } from "node:worker_threads";\nimport { run } from "./run.js";\n${POST_TO_PARENT}\n`,
  };
}

/** The same for CommonJS: `main.cjs`. @param {Way} way @returns {Files} */
export function commonJsFiles(way) {
  const files = {
    "run.cjs": `const t2t = require("${SPECIFIERS[way]}");
const { runBehaviours } = require("./suite.js");
${RUN}
module.exports = { run };
`,
  };
  if (way !== "ownWorker") return { ...files, "main.cjs": `const { run } = require("./run.cjs");\n${PRINT}\n` };
  return {
    ...files,
    "main.cjs": `const { Worker } = require("node:worker_threads");\n${printAnswer('require.resolve("./own-worker.cjs")')}\n`,
    "own-worker.cjs": `const { parentPort } = require("node:worker_threads");\nconst { run } = require("./run.cjs");\n${POST_TO_PARENT}\n`,
  };
}

/** @param {string} script The script of the thread, as an expression. */
function printAnswer(script) {
  return `new Worker(${script}).once("message", ({ results, error }) => {
  if (error) throw new Error(error);
  console.log(JSON.stringify(results));
});`;
}

/** For pages: `page.js` leaves a promise of the results. @param {Way} way @returns {Files} */
export function pageFiles(way, specifiers = SPECIFIERS) {
  const files = { "run.js": runModule(way, specifiers), "index.html": html("page.js", "module") };
  if (way !== "ownWorker") {
    return { ...files, "page.js": `import { run } from "./run.js";\nglobalThis.results = run();\n` };
  }
  return {
    ...files,
    "page.js": `const worker = new Worker(new URL("./own-worker.js", import.meta.url), { type: "module" });
globalThis.results = new Promise((resolve, reject) => {
  worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data.results));
  worker.onerror = (event) => reject(new Error(event.message || "the worker could not be started"));
});
`,
    "own-worker.js": `import { run } from "./run.js";\nconst post = (message) => postMessage(message);\n${POST}\n`,
  };
}

/** @param {string} script @param {"module" | "text/javascript"} type */
export function html(script, type) {
  const defer = type === "module" ? "" : " defer";
  return `<!doctype html>\n<meta charset="utf-8">\n<title>token2text</title>\n<script type="${type}" src="./${script}"${defer}></script>\n`;
}
