/** Where Node finds the modules and files of the peers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib.js";

/** Those that no package manager installs. @type {Record<string, string>} */
const OWN = {
  token2text: "../../pkg/node.js",
  "tokenizers-wasm": "../../target/tokenizers-wasm/tokenizers_wasm.js",
};

/** Says by which clock processes are timed: `wall`, or else the processor time of all their threads. */
export const CLOCK = "BENCH_CLOCK";

/** @type {import("./peers.mjs").Host} */
export const NODE = {
  module: (name) => import(OWN[name] ?? name),
  bytes: async (path) => new Uint8Array(readFileSync(NODE.address(path))),
  now: process.env[CLOCK] === "wall" ? () => performance.now() : processorTime,
  address: (path) => join(ROOT, path),
};

function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
