/** The packed package: what is in it, that it runs where it is installed, and README's three lines with real backends. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { BIN } from "../integration/support/servers.js";
import { SETTINGS, client, verl } from "./support/clients.js";
import { tokenizerFile } from "./support/collector.js";
import { Command } from "./support/command.js";
import { installedProject, run } from "./support/installed.js";
import { textsIn } from "./support/records.js";

const folder = installedProject();
const installed = join(folder, "node_modules/token2text-collector");
const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
const readme = readFileSync(join(installed, "README.md"), "utf8");

test("it has its files and nothing else, and names its token2text", () => {
  const paths = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
  for (const path of ["LICENSE", "README.md", "bin/token2text-collector.js", "deploy/Containerfile", "deploy/token2text-collector.service", "src/cli.js"]) assert.ok(paths.includes(path), path);
  for (const path of paths) assert.match(path, /^(bin|src(\/[a-z]+)*)\/[\w-]+(\.d)?\.(js|ts)$|^(deploy|docs)\/|^(package\.json|README\.md|LICENSE)$/);
  const core = JSON.parse(readFileSync(join(folder, "node_modules/token2text/package.json"), "utf8"));
  assert.equal(manifest.dependencies.token2text, core.version);
  for (const [name, version] of Object.entries(manifest.dependencies)) assert.match(/** @type {string} */ (version), /^\d+\.\d+\.\d+$/, name);
  assert.equal(manifest.version, core.version);
});

test("what README links to is there", () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)];
  assert.ok(links.length >= 4, `${links.length}`);
  const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, words]) => words.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-"));
  for (const [link, path, anchor] of links) {
    if (path !== "") assert.ok(existsSync(join(installed, path)), link);
    else assert.ok(headings.includes(anchor), link);
  }
});

test("npx token2text-collector --version, --help, --check", () => {
  assert.equal(run("npx", ["token2text-collector", "--version"], folder), `${manifest.version}\n`);
  assert.match(run("npx", ["token2text-collector", "--help"], folder), /^token2text-collector: /);
  const checked = run("npx", ["token2text-collector", "-t", tokenizerFile, "--cache", "none", "--relay", "mlflow=5001,http://host:5000", "--check"], folder);
  assert.match(checked, /^tokenizers: # --tokenizer$/m);
});

test("it starts, answers /health and stops; its store is there", async () => {
  const options = ["-t", tokenizerFile, "--cache", join(folder, "cache"), "--relay", "otlp=0,http://127.0.0.1:1", "--receive", "0", "--store", join(folder, "traces.db"), "--admin", "0"];
  const command = new Command(options, { command: [join(folder, "node_modules/.bin/token2text-collector")] });
  const health = await fetch(`${await command.url("admin")}/health`);
  assert.equal(health.status, 200);
  assert.equal((await health.json()).version, manifest.version);
  command.signal("SIGTERM");
  assert.equal(await command.ended, 0);
  assert.ok(existsSync(join(folder, "traces.db")));
  assert.equal(readdirSync(join(folder, "cache")).length, 1, "the packed tokenizer");
});

/** A port that is free now. */
async function freePort() {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  return port;
}

test("README's three lines, then verl's own tracing: MLflow has the text", async () => {
  const [, block] = /## Three lines [^]*?```sh\n([^]*?)```/.exec(readme) ?? [];
  assert.equal(block?.trim().split("\n").length, 3);
  const [mlflowPort, relayPort] = [await freePort(), await freePort()];
  // Whoever runs the tests may use these ports.
  const lines = block.replaceAll("5000", String(mlflowPort)).replaceAll("5001", String(relayPort));
  mkdirSync(join(folder, "Qwen3-8B"));
  symlinkSync(tokenizerFile, join(folder, "Qwen3-8B/tokenizer.json"));
  const shell = spawn("bash", ["-c", `${lines}\necho "uri=$MLFLOW_TRACKING_URI"\nwait`], {
    cwd: folder,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: [BIN, process.env.PATH].join(delimiter), XDG_CACHE_HOME: folder, MLFLOW_WORKERS: "1", MLFLOW_SERVER_ENABLE_JOB_EXECUTION: "false", MLFLOW_DISABLE_TELEMETRY: "true" },
  });
  let said = "";
  shell.stdout.setEncoding("utf8").on("data", (text) => (said += text));
  shell.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  try {
    const url = `http://127.0.0.1:${mlflowPort}`;
    for (const address of [url, `http://127.0.0.1:${relayPort}`]) await answers(`${address}/health`, shell);
    const [, uri] = /^uri=(.*)$/m.exec(said) ?? [];
    assert.equal(uri, `http://127.0.0.1:${relayPort}`);
    const { calls, failures } = await verl("mlflow", uri, "rollouts", "--samples", "1");
    assert.deepEqual(failures, []);
    assert.ok(calls.length > 1);
    const stored = new Set(textsIn(await client(SETTINGS.mlflow(url), "read_mlflow", "rollouts")).flatMap(({ texts }) => texts));
    for (const { op, texts } of calls) for (const text of texts) assert.ok(stored.has(text), `${op}: ${text}\n${said}`);
  } finally {
    process.kill(-(/** @type {number} */ (shell.pid)), "SIGTERM");
    await once(shell, "close");
  }
});

/** Waits until an address answers. @param {string} url @param {import("node:child_process").ChildProcess} shell */
async function answers(url, shell) {
  for (;;) {
    if (shell.exitCode !== null) throw new Error(`the shell has ended before ${url} answered`);
    const isThere = await fetch(url).then((answer) => answer.ok, () => false);
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
