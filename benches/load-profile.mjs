/**
 * Where the time of a cold load goes: a tokenizer.json loaded once in a fresh process, in parts, and what is beside our own code.
 *
 *   node benches/load-profile.mjs [--runs 9]             of all tokenizers that `make bench` has, into benches/RESULTS.md; built in pkg/
 *   node benches/load-profile.mjs KEY... [--runs 9]      of these, printed
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { TOKENIZERS, jsonPath } from "./decode/paths.mjs";
import { summary } from "./decode/timing.mjs";
import { row, writeResults } from "./lib.mjs";

const ROOT = join(import.meta.dirname ?? fileURLToPath(new URL(".", import.meta.url)), "..");
const SELF = fileURLToPath(import.meta.url);
/** As pkg-template/loading.js gives a file to the module. */
const PIECE = 64 << 10;
const BASELINE = "--liftoff-only";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { runs: { type: "string", default: "9" }, child: { type: "boolean" } } });
const HEADING = "# Results of `node benches/load-profile.mjs`: where the time of a cold load goes";
const LEGEND = `A tokenizer.json loaded once in a fresh process. By processor time of all threads, medians of ${values.runs} runs, Node ${process.versions.node}, ${cpus()[0].model}.
The file is in memory, the module started before.

- **ours**: V8 runs each function in its baseline code (Liftoff), and compiles in a thread what ran for long (TurboFan).
- **baseline alone**: without TurboFan. What the difference to the row above is, compiling takes, less what faster code saves.
- **warm**: the fifth load of a process, when all of that is over and the memory has been touched: the floor of this code.
- **scan**: each byte is only passed over: the file as one long list of strings in a member that does not matter. What a loader takes that
  keeps nothing: to copy the file into the module, check UTF-8, find the ends of strings.`;
/** What is loaded, in which way, and with which flags of V8. @type {[name: string, what: string, flags: string[]][]} */
const ROWS = [
  ["JSON.parse", "parse", []],
  ["ours", "load", []],
  ["ours, baseline alone", "load", [BASELINE]],
  ["ours, warm", "warm", []],
  ["scan", "scan", []],
  ["scan, warm", "scan-warm", []],
];

if (values.child) console.log(JSON.stringify(await measure(positionals[0], positionals[1])));
else if (positionals.length > 0) for (const key of positionals) console.log(`${profile(key)}\n`);
else writeResults(`${HEADING}\n\n${LEGEND}\n\n${Object.keys(TOKENIZERS).map(profile).join("\n\n")}`);

/** @param {string} key */
function profile(key) {
  /** @type {Map<string, Record<string, number>[]>} */
  const measured = new Map(ROWS.map(([name]) => [name, []]));
  for (let run = 0; run < Number(values.runs); run++) {
    for (const [name, what, flags] of ROWS) {
      const answer = execFileSync(process.execPath, [...flags, SELF, "--child", key, what], { encoding: "utf8" });
      measured.get(name)?.push(JSON.parse(answer));
    }
  }
  const median = (/** @type {string} */ name, /** @type {string} */ what) => summary((measured.get(name) ?? []).map((one) => one[what])).ms;
  const whole = median("JSON.parse", "cpu");
  const lines = ROWS.map(([name]) => {
    const [cpu, wall, push, finish] = ["cpu", "wall", "push", "finish"].map((what) => median(name, what));
    const parts = name === "JSON.parse" ? ["", ""] : [`${push.toFixed(1)} ms`, `${finish.toFixed(1)} ms`];
    return row([name, `${cpu.toFixed(1)} ms`, `${(cpu / whole).toFixed(2)}x`, `${wall.toFixed(1)} ms`, ...parts, median(name, "faults")]);
  });
  const heads = [key, "processor time", "over JSON.parse", "on the wall", "reading the file", "making the table", "pages touched"];
  return [row(heads), row(heads.map(() => "---")), ...lines].join("\n");
}

/** @param {string} key @param {string} what */
async function measure(key, what) {
  const file = new Uint8Array(readFileSync(join(ROOT, jsonPath(key))));
  if (what === "parse") {
    const text = new TextDecoder().decode(file);
    return timed(() => ({ read: () => JSON.parse(text), finish: () => {} }));
  }
  const bytes = what.startsWith("scan") ? onlyStrings(file) : file;
  const glue = await import("../pkg/slim.js");
  glue.initSync({ module: new WebAssembly.Module(readFileSync(join(ROOT, "pkg/slim_bg.wasm"))) });
  const start = () => {
    const loader = new glue.LoaderCore(bytes.length);
    const read = () => {
      for (let at = 0; at < bytes.length; at += PIECE) loader.push(bytes.subarray(at, at + PIECE));
    };
    return { read, finish: () => loader.finish()?.free() };
  };
  for (let load = what.endsWith("warm") ? 4 : 0; load > 0; load--) timed(start);
  return timed(start);
}

/** @param {() => { read: () => void, finish: () => void }} start */
function timed(start) {
  const before = [processorTime(), performance.now(), faults()];
  const { read, finish } = start();
  read();
  const between = processorTime();
  finish();
  const after = [processorTime(), performance.now(), faults()];
  const [cpu, wall, touched] = after.map((value, i) => value - before[i]);
  return { cpu, wall, push: between - before[0], finish: after[0] - between, faults: touched };
}

/** A tokenizer.json with one token, whose merges are the strings of a file, as long as the file. @param {Uint8Array} file */
function onlyStrings(file) {
  const strings = new TextDecoder().decode(file).match(/"(?:[^"\\]|\\.)*"/g) ?? [];
  const rest = "x".repeat(Math.max(0, file.length - new TextEncoder().encode(strings.join(",\n      ")).length));
  const merges = `[${strings.join(",\n      ")}, "${rest.replace(/.{64}/g, (part) => `${part.slice(0, 60)}","`)}"]`;
  return new TextEncoder().encode(`{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0},"merges":${merges}}}`);
}

function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function faults() {
  return process.resourceUsage().minorPageFault;
}
