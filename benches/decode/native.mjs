/** Runs criterion in benches/native, and reads what it wrote down. */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run } from "../../scripts/lib.js";
import { readInputs } from "./paths.mjs";
import { NODE } from "./node-host.mjs";

/** @typedef {import("./contest.mjs").Row} Row */
/** @typedef {import("./contest.mjs").Outcome} Outcome */

const TARGET = join(ROOT, "target/native-bench");
const CARGO = ["bench", "--locked", "--manifest-path", join(ROOT, "benches/native/Cargo.toml"), "--target-dir", TARGET];

/** Takes minutes when it is done for the first time. */
export function buildNative() {
  run("cargo", [...CARGO, "--no-run", "--quiet"]);
}

/** @param {string[]} keys @returns {Promise<Outcome>} */
export async function inRust(keys) {
  const figures = join(TARGET, "criterion");
  rmSync(figures, { recursive: true, force: true });
  const printed = execFileSync("cargo", [...CARGO, "--quiet", "--", "--noplot", "--quiet"], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, BENCH_TOKENIZERS: keys.join(), CRITERION_HOME: figures },
    maxBuffer: 1 << 26,
    // What criterion says while it works is only shown when it fails.
    stdio: "pipe",
  });
  const differs = new Set(Array.from(printed.matchAll(/^differs: (.*)$/gm), ([, name]) => name));
  /** @type {Outcome} */
  const outcome = { decode: [], faults: [] };
  for (const tokenizer of keys) {
    for (const { corpus, sizes } of await readInputs(NODE, tokenizer)) {
      for (const { name: size, ids: count, batch, starts } of sizes) {
        const group = `${tokenizer},${corpus},${size}`;
        const ids = batch ? count * starts.length : count;
        for (const peer of readdirSync(join(figures, group)).filter((name) => name !== "report")) {
          const isRight = !differs.has(`${group}/${peer}`);
          if (!isRight) outcome.faults.push({ tokenizer, peer, what: "another text", corpus, size });
          outcome.decode.push({ tokenizer, corpus, size, ids, peer, ...timesIn(join(figures, group, peer)), isRight });
        }
      }
    }
  }
  return outcome;
}

/** Of the estimates, which are in nanoseconds. @param {string} folder */
function timesIn(folder) {
  const { median, median_abs_dev: deviation } = JSON.parse(readFileSync(join(folder, "new/estimates.json"), "utf8"));
  return { us: median.point_estimate / 1000, spread: deviation.point_estimate / median.point_estimate };
}
