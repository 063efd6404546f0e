/**
 * Starts the collector alone, on whose page recorded verl rollouts are seen as they come. Decodes the recording with the command line,
 * shows before and after, serves the viewer with it, and does the same in a real MLflow and a real Trackio; runs rollouts with verl's own
 * code, whose traces get their texts in the relay before the MLflow. At the end that MLflow gets all that the collector has kept.
 *
 *   node scripts/demo.js          until Ctrl-C
 *   DEMO_EXIT=1 ...               ends by itself; fails if a page does not answer, or a server does not have the texts
 */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serveViewer } from "../pkg/cli/view-server.js";
import { showBackends } from "./demo-backends.js";
import { DemoCollector } from "./demo-collector.js";
import { ROOT, fail, run, step } from "./lib.js";
import { fetchTokenizer } from "./fetch-tokenizer.js";

const TRACE = "tests/fixtures/captures/verl-calls-qwen3/calls.jsonl";
const OUTPUT = ".cache/demo/calls.text.jsonl";
const PORT = Number(process.env.PORT ?? 4173);
const SHOWN = 4;

const color = process.stdout.isTTY && !process.env.NO_COLOR;
/** @param {number} code @param {string} text */
const paint = (code, text) => (color ? `\x1b[${code}m${text}\x1b[0m` : text);

const tokenizer = join(fetchTokenizer("qwen3"), "tokenizer.json");
mkdirSync(join(ROOT, ".cache/demo"), { recursive: true });
const isWatched = !process.env.DEMO_EXIT;
const collector = await new DemoCollector(tokenizer.slice(ROOT.length)).start();
console.log(`\n${paint(1, "The collector, no backend installed:")} ${collector.url}  (rollouts come into sight there as they are sent)\n`);
const wrong = [...(await collector.check()), ...(await collector.show())];
if (isWatched) collector.flow();
const command = ["enrich", TRACE, "--tokenizer", tokenizer.slice(ROOT.length), "-o", OUTPUT];
step(`token2text ${command.join(" ")}`);
run("node", ["pkg/bin/token2text.js", ...command]);

showRecords(readRecords(TRACE), readRecords(OUTPUT));
/** What the viewer opens, by the address that it has there. */
const files = new Map([
  ["given/tokenizer.json", tokenizer],
  ["given/calls.jsonl", join(ROOT, TRACE)],
]);
const viewer = await serveViewer({ port: PORT, mayMove: true, files });
const page = `${viewer.url}?tokenizer=given/tokenizer.json&trace=given/calls.jsonl`;
console.log(`\n${paint(1, "The viewer, with these rollouts:")} ${page}\nDrop a tokenizer.json and a trace there, or try the sample.\n`);
const { addresses, mlflow, problems, dispose } = await showBackends(tokenizer.slice(ROOT.length));
problems.push(...wrong);
if (mlflow) {
  const caughtUp = await collector.catchUp(mlflow);
  problems.push(...caughtUp.problems);
  addresses["MLflow, with what the collector had kept"] = caughtUp.address;
}
console.log();
for (const [name, address] of Object.entries({ "The collector": collector.url, "The viewer": page, ...addresses })) console.log(`${paint(1, `${name}:`)} ${address}`);
if (!isWatched) await end();
else console.log("Ctrl-C ends all of it.");

/** @param {string} path @returns {any[]} */
function readRecords(path) {
  return readFileSync(join(ROOT, path), "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

/** @param {any[]} before @param {any[]} after */
function showRecords(before, after) {
  const decoded = after.flatMap((record, i) => (record.outputs?.response_text ? [[before[i], record, i + 1]] : []));
  for (const [old, record, line] of decoded.slice(0, SHOWN)) showRecord(old, record, line);
  console.log(`\n... and ${after.length - Math.min(SHOWN, decoded.length)} more records in ${OUTPUT}`);
}

/** @param {any} before @param {any} after @param {number} line */
function showRecord(before, after, line) {
  console.log(`\n${paint(1, `${after.name}`)} ${paint(2, `line ${line}`)}`);
  const ids = { prompt: before.outputs.prompt_ids ?? before.inputs.prompt_ids, response: before.outputs.response_ids ?? before.outputs.token_ids };
  showField("prompt", ids.prompt, after.outputs.prompt_text);
  showField("response", ids.response, after.outputs.response_text);
}

/** @param {string} kind @param {number[]} ids @param {string} text */
function showField(kind, ids, text) {
  const shown = ids.length > 12 ? `${ids.slice(0, 12).join(", ")}, ...` : ids.join(", ");
  console.log(`  ${paint(2, `${kind}, ${ids.length} ids  [${shown}]`)}`);
  // The end of a prompt is what the turn adds; what comes before was in the turn before.
  const lines = text.split("\n");
  const cut = kind === "prompt" && lines.length > 8;
  if (cut) console.log(`    ${paint(2, `(${lines.length - 8} lines before)`)}`);
  for (const textLine of cut ? lines.slice(-8) : lines) console.log(`    ${paint(kind === "prompt" ? 36 : 32, textLine)}`);
}

async function end() {
  const paths = ["", "viewer.js", "sample/tokenizer.t2t", "sample/rollouts.jsonl", ...files.keys()];
  const answers = await Promise.all(paths.map((path) => fetch(viewer.url + path)));
  const html = await answers[0].text();
  if (!answers.every((answer) => answer.ok) || !html.includes("token2text")) problems.push("the page does not answer");
  // Before the MLflow that it exports to.
  await collector.dispose();
  await Promise.all([viewer.close(), dispose()]);
  if (problems.length > 0) fail(problems.join("\n"));
  console.log("ok: the pages answer, and the servers have the texts");
  process.exit(0);
}
