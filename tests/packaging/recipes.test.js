/** The recipes of the package's README, each in a fresh project, as printed. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { withPage } from "../js/support/browser.js";
import { ROOT, freshProject, linkTool, run, start } from "./support/project.js";
import { readCommands, readSections } from "./support/readme.js";
import { serve } from "./support/server.js";

/** @typedef {import("./support/project.js").Project} Project */
/**
 * What a recipe leaves to its reader.
 *
 * @typedef {object} Recipe
 * @property {string} [tokenizer] Where tokenizer.json goes. Default: beside the package.json.
 * @property {string} [page] The folder that is served and opened.
 * @property {Record<string, Server>} [servers] Commands that run until they are ended.
 */
/** @typedef {{ opens?: boolean, url?: string }} Server Its page is opened; its address, where it does not print it. */

const VITE = { tokenizer: "public/tokenizer.json", page: "dist", servers: { "npx vite": { opens: true } } };

/** @type {Record<string, Recipe>} */
const RECIPES = {
  Install: {},
  "Quick start": {},
  Node: {},
  "Spans to a backend": {},
  "Node with CommonJS": {},
  "Node with a worker thread": {},
  "Token by token": {},
  "From text to ids": {},
  "Would encoding change the ids?": {},
  "Packed tokenizers": {},
  "Tokenizers that stay in the browser": { page: "." },
  "Spans as plain data": {},
  "What is wrong with a rollout?": {},
  "Many rollouts, one by one": {},
  Bun: {},
  Deno: {},
  "Cloudflare Workers": { tokenizer: "assets/tokenizer.json", servers: { "npx workerd serve config.capnp": { url: "http://127.0.0.1:8787" } } },
  Vite: VITE,
  "Vite with a worker": VITE,
  webpack: { tokenizer: "dist/tokenizer.json", page: "dist" },
  "esbuild for a page": { page: "dist" },
  "esbuild to one file": {},
  "HTML without a bundler": { page: "." },
  TypeScript: {},
};
/** What every page of a recipe shows. */
const TEXT = "Hello, world!";
/** Recipes with a server of their own; tests/integration runs them, and tests/collector that of OpenTelemetry. */
const ELSEWHERE = ["MLflow", "OTLP", "OpenTelemetry", "Rollout traces", "Trackio", "Weave"];
/** Languages whose blocks are to read. */
const READING = ["http"];

const README = readFileSync(join(ROOT, "pkg/README.md"), "utf8");
const sections = readSections(README);
const policy = sections.flatMap(({ blocks }) => blocks).find(({ language }) => language === "http")?.text.match(/^Content-Security-Policy: (.*)$/m)?.[1];
const tokenizer = join(fetchTokenizer("qwen3"), "tokenizer.json");
const calls = join(ROOT, "tests/fixtures/captures/verl-calls-qwen3/calls.jsonl");

const recipes = sections.filter(({ title, blocks }) => !ELSEWHERE.includes(title) && blocks.some(({ language }) => !READING.includes(language)));

test("README has the recipes of this file and no others", () => {
  const fences = README.match(/^ *[`~]{3}/gm)?.length;
  assert.equal(fences, 2 * sections.flatMap(({ blocks }) => blocks).length, "a block that was not read: without a language?");
  assert.deepEqual(recipes.map(({ title }) => title), Object.keys(RECIPES));
});

for (const { title, blocks } of recipes) {
  test(`README, ${title}`, async () => {
    const { tokenizer: place = "tokenizer.json", page, servers = {} } = RECIPES[title];
    const project = freshProject();
    for (const [from, to] of [[tokenizer, place], [calls, "calls.jsonl"]]) copy(from, join(project.folder, to));
    for (const { language, file, text } of blocks) {
      if (file) project.write({ [file]: text });
      else assert.ok(["sh", ...READING].includes(language), `a block that nothing runs:\n${text}`);
    }
    const commands = blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => readCommands(text));
    /** @type {(() => Promise<void>)[]} */
    const stops = [];
    try {
      for (const { command, output } of commands) {
        if (servers[command]) stops.push(await startServer(project, command, servers[command]));
        else if (!install(project, command)) await runPrinted(project, command, output);
      }
    } finally {
      for (const stop of stops) await stop();
    }
    if (page) await openFolder(join(project.folder, page));
  });
}

test("README lists every code of an error", () => {
  const source = readFileSync(join(ROOT, "pkg/errors.js"), "utf8");
  const words = source.slice(0, source.indexOf("*/")).matchAll(/`([a-z_]+)`/g);
  const codes = [...words].map(([, word]) => word).filter((word) => word !== "code" && word !== "name");
  const [, section = ""] = README.match(/^## Errors$([^]*?)^## /m) ?? [];
  const listed = [...section.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code);
  assert.deepEqual(listed, codes.sort());
});

/**
 * The package itself is installed already, from the tarball; tools come from tests/packaging.
 *
 * @param {Project} project
 * @param {string} command
 * @returns {boolean} Whether it was an installation.
 */
function install(project, command) {
  const names = command.match(/^npm install (?:--save-dev )?(.*)$/)?.[1].split(" ") ?? [];
  for (const name of names.filter((name) => name !== "token2text")) linkTool(project, name);
  return names.length > 0;
}

/** @param {Project} project @param {string} command @param {string} [output] */
async function runPrinted(project, command, output) {
  const printed = await run(project, "bash", ["-euo", "pipefail", "-c", command]);
  if (output !== undefined) assert.equal(printed.trimEnd(), output.trimEnd(), command);
}

/** @param {Project} project @param {string} command @param {Server} server */
async function startServer(project, command, { opens, url: known }) {
  const [program, ...args] = command.split(" ");
  const { url, stop } = await start(project, program, args, (printed) => known ?? printed.match(/http:\/\/\S+/)?.[0]);
  try {
    await untilItAnswers(url);
    if (opens) await openPage(url);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {string} url */
async function untilItAnswers(url) {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer) return;
    await sleep(100);
  }
  assert.fail(`${url} does not answer`);
}

/** @param {string} folder */
async function openFolder(folder) {
  const { url, reports, stop } = await serve(folder, `${policy}; report-uri /csp-report`);
  try {
    await openPage(url);
    assert.deepEqual(reports, [], "the Content-Security-Policy was broken");
  } finally {
    await stop();
  }
}

/** @param {string} url */
function openPage(url) {
  return withPage({}, async (page) => {
    await page.goto(url);
    await page.getByText(TEXT, { exact: true }).waitFor();
  });
}

/** @param {string} from @param {string} to */
function copy(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}
