/**
 * What runs in a process of its own; the result is JSON on the standard output.
 *
 *   child.mjs contest KEY OPTIONS    decoding, everyone in turn
 *   child.mjs load KEY WAY           one load from cold, its memory, and a second one
 */
import { readFileSync, writeFileSync } from "node:fs";
import { contest } from "./contest.mjs";
import { loadTwice } from "./loads.mjs";
import { NODE } from "./node-host.mjs";
import { readInputs } from "./paths.mjs";

const [what, key, given] = process.argv.slice(2);
if (what === "contest") print(await contest(NODE, key, await readInputs(NODE, key), JSON.parse(given)));
else print(await loadTwice(NODE, key, given, measureMemory));

/** The highest resident memory from now on, beyond what is resident now, in MB; where Linux tells it. */
function measureMemory() {
  try {
    // Sets the mark back to what is resident now.
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    return () => undefined;
  }
  const before = status("VmHWM");
  return () => ((status("VmHWM") - before) * 1024) / 1e6;
}

/** In KiB. @param {string} name */
function status(name) {
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}

/** @param {unknown} result */
function print(result) {
  console.log(JSON.stringify(result));
}
