/** `token2text trackio enrich` on traces that a real server has stored as ids. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { TrackioExporter, TrackioReader, enrichStored } from "../../pkg/exporters/trackio.js";
import { withPage } from "../js/support/browser.js";
import { CLI, token2text } from "../js/support/cli.js";
import { OPEN, byteIds, chatMl, jsonBytes } from "../js/support/tokenizers.js";
import { Trackio } from "./support/trackio.js";

const CAPTURES = new URL("../fixtures/captures/", import.meta.url);
const TOKENIZERS = new URL("../../.cache/tokenizers/", import.meta.url);
const BODY = "01-bulk-log.json";

const captures = readdirSync(CAPTURES)
  .filter((name) => name.startsWith("trackio-"))
  .map((name) => {
    const read = (/** @type {string} */ file) => readFileSync(new URL(`${name}/${file}`, CAPTURES));
    const tokenizer = fileURLToPath(new URL(JSON.parse(String(read("meta.json"))).tokenizer[0], TOKENIZERS));
    // What JavaScript cannot read does not matter here.
    const { kwargs, logs = kwargs.logs } = JSON.parse(String(read(BODY)).replace(/-?\b(NaN|Infinity)\b(?=[,\]}])/g, "null"));
    return { name, body: read(BODY), logs, project: logs[0].project, expected: JSON.parse(String(read("expected.json"))), tokenizer };
  });

const server = new Trackio();
before(() => server.start());
after(() => server.dispose());

/** @param {string[]} args @param {Record<string, string>} [env] */
const enrich = (args, env = { TRACKIO_WRITE_TOKEN: server.writeToken }) => token2text(["trackio", "enrich", "--server", server.url, ...args], { env });
const exporter = () => new TrackioExporter({ url: server.url, writeToken: server.writeToken });
/** @param {string} project @returns {Promise<any[]>} */
const tracesOf = async (project) => (await server.ask("stored"))[project].runs.flatMap((/** @type {any} */ run) => run.traces);
const isVersion = (/** @type {any} */ trace) => trace.metadata.token2text !== undefined;

for (const { name, body, logs, project, expected, tokenizer } of captures) {
  test(`${name}: versions have the text, originals stay, and a second time changes nothing`, async () => {
    assert.equal((await exporter().export(body)).status, "success");
    const originals = await tracesOf(project);
    assert.ok(originals.length > 0);

    const dry = await enrich(["--project", project, "-t", tokenizer, "--dry-run"], {});
    assert.equal(dry.status, 0, dry.stderr);
    assert.match(dry.stderr, /[1-9]\d* versions would be written/);
    assert.deepEqual(await tracesOf(project), originals, "a dry run has written");

    const first = await enrich(["--project", project, "-t", tokenizer, "--no-messages"]);
    assert.equal(first.status, 0, first.stderr);
    const traces = await tracesOf(project);
    const versions = traces.filter(isVersion);
    assert.deepEqual(traces.filter((trace) => !isVersion(trace)), originals);
    assert.match(first.stderr, new RegExp(`1 run, ${originals.length} traces: ${versions.length} versions written\n`));
    let told = 0;
    for (const version of versions) {
      const { source, revision } = version.metadata.token2text;
      const original = originals.find(({ id }) => id === source);
      assert.equal(revision, 1);
      assert.equal(version.index, 0);
      for (const member of ["key", "run", "run_id", "step"]) assert.deepEqual(version[member], original[member]);
      told += withoutTold(version, original);
      for (const member of ["messages", "metadata", "spans"]) assert.deepEqual(withoutAdded(version[member], original[member]), asRead(original[member]), source);
    }
    const [{ id: runId }] = await new TrackioReader({ url: server.url }).runs(project);
    const found = await new TrackioReader({ url: server.url }).traces({ project, runId, search: "token2text" });
    assert.deepEqual(JSON.parse(Buffer.from(found).toString()).data.map((/** @type {any} */ { id }) => id), versions.map(({ id }) => id));
    assert.ok(told > 0);
    assert.ok(compareTexts(logs, expected, versions) > 0);

    const before = await server.ask("stored");
    const second = await enrich(["--project", project, "-t", tokenizer, "--no-messages"]);
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stderr, new RegExp(`: 0 versions written\n${versions.length} versions already there\n`));
    assert.deepEqual(await server.ask("stored"), before, "a second time has changed something");
  });
}

/** Takes the messages out that were put before the others, which are texts of the trace; gives their number. @param {any} version @param {any} original */
function withoutTold(version, original) {
  if (!Array.isArray(original.messages)) return 0;
  const told = version.messages.splice(0, version.messages.length - original.messages.length);
  for (const { role, content, ...rest } of told) {
    assert.deepEqual(rest, {});
    const isPrompt = role === "system";
    const member = `${isPrompt ? "prompt" : "response"}_text":${JSON.stringify(content)}`;
    assert.ok(JSON.stringify(version.metadata).includes(member), member);
    const first = original.messages.find((/** @type {any} */ message) => message.role === (isPrompt ? "user" : "assistant"));
    assert.ok(first === undefined || /^[[{]/.test(first.content), "a text was there already");
  }
  return told.length;
}

/**
 * Takes out of a version what was added, which may only be text.
 *
 * @param {any} version
 * @param {any} original
 * @returns {any}
 */
function withoutAdded(version, original) {
  if (Array.isArray(version)) return version.map((item, i) => withoutAdded(item, original[i]));
  if (typeof version !== "object" || version === null) return version;
  const entries = Object.entries(version).flatMap(([key, value]) => {
    const isKept = key in original && (original[key] !== null || value === null);
    if (isKept) return [[key, withoutAdded(value, original[key])]];
    assert.match(key, /_text$|^token2text$|^segments$/, "a member that is no text was added");
    // A text may take the place of null.
    return key in original ? [[key, null]] : [];
  });
  return Object.fromEntries(entries);
}

/** Trackio's API gives null for what is not finite. @param {any} value @returns {any} */
function asRead(value) {
  return JSON.parse(JSON.stringify(value), (_, item) => (item?.float === undefined ? item : null));
}

/**
 * Compares the texts of verl's fields with what the reference decodes, and tells how many there were.
 *
 * @param {any[]} logs
 * @param {any[]} expected
 * @param {any[]} versions
 */
function compareTexts(logs, expected, versions) {
  let compared = 0;
  for (const { where, kind, rule, status, text, existing } of expected) {
    const steps = where?.find((/** @type {string} */ address) => address.startsWith(BODY) && !address.includes("!"))?.split("#")[1].split("/");
    if (!steps || rule !== "verl" || status !== "ok" || existing) continue;
    const [log, , key, ...rest] = steps.slice(steps.indexOf("logs") + 1).map((/** @type {string} */ step) => step.replaceAll("~1", "/"));
    const version = versions.find((trace) => trace.metadata.token2text.source.startsWith(`${logs[log].run_id}:${logs[log].log_id}:${key}`));
    const inTrace = /^\d+$/.test(rest[0]) ? rest.slice(1) : rest;
    const place = inTrace[0] === "spans" ? version.spans[inTrace[1]] : version.metadata;
    assert.equal(place.output[`${kind}_text`], text, where[0]);
    compared++;
  }
  return compared;
}

const { project, tokenizer } = captures[1];

test("what was interrupted is gone on with", async () => {
  const own = "interrupted";
  const body = String(captures[1].body).replaceAll(JSON.stringify(project), JSON.stringify(own));
  assert.equal((await exporter().export(new TextEncoder().encode(body))).status, "success");
  const reader = new TrackioReader({ url: server.url });
  const [{ id: runId }] = await reader.runs(own);
  const enricher = new Enricher(await Tokenizer.load(`${tokenizer}/tokenizer.json`), { format: "trackio" });
  const write = (/** @type {Uint8Array} */ bytes) => exporter().export(bytes);
  let pages = 0;
  let written = 0;
  for await (const page of enrichStored(reader, enricher, { project: own, runId, pageSize: 5 }, write)) {
    written += page.written;
    if (++pages === 2) break;
  }
  assert.ok(written > 0);
  assert.equal((await tracesOf(own)).filter(isVersion).length, written);
  const all = (await tracesOf(project)).filter(isVersion).length;
  const { stderr, status } = await enrich(["--project", own, "-t", tokenizer]);
  assert.equal(status, 0, stderr);
  assert.match(stderr, new RegExp(`: ${all - written} versions written\n${written} versions already there\n`));
  assert.equal((await tracesOf(own)).filter(isVersion).length, all);
});

test("Ctrl-C ends the command with word of what was done, and the same command goes on", async () => {
  const own = { project: "Ctrl-C 走", run: "läuft" };
  const spans = Array.from({ length: 400 }, (_, i) => ({ traceId: String(i), spanId: String(i), name: "generate", output: JSON.stringify({ token_ids: Array(200).fill(i + 100) }) }));
  assert.equal((await new TrackioExporter({ url: server.url, writeToken: server.writeToken, ...own }).export(spans)).status, "success");
  const child = spawn(process.execPath, [CLI, "trackio", "enrich", "--server", server.url, "--project", own.project, "-t", tokenizer, "--report", "json"], { env: { ...process.env, TRACKIO_WRITE_TOKEN: server.writeToken } });
  child.stderr.once("data", () => child.kill("SIGINT"));
  const [status] = await once(child, "close");
  assert.equal(status, 130);
  const written = (await tracesOf("Ctrl-C走")).filter(isVersion).length;
  assert.ok(written > 0 && written < 400, String(written));
  const { stderr } = await enrich(["--project", own.project, "-t", tokenizer]);
  assert.match(stderr, new RegExp(`: ${400 - written} versions written\n${written} versions already there\n`));
});

test("the tokenizer of another model is told of", async () => {
  const small = tokenizer.replace(/[^/]+$/, "minilm");
  const own = { project: "mismatch", run: "r" };
  const spans = [{ name: "generate", output: JSON.stringify({ token_ids: Array.from({ length: 100 }, (_, i) => 1000 * i) }) }];
  assert.equal((await new TrackioExporter({ url: server.url, writeToken: server.writeToken, ...own }).export(spans)).status, "success");
  const { stderr } = await enrich(["--project", own.project, "-t", small, "--dry-run"]);
  assert.match(stderr, /\nwarning, tokenizer_mismatch: r [\da-f]+:.*of 100 ids are unknown/);
});

test("another revision is written beside the first", async () => {
  const versions = (await tracesOf(project)).filter(isVersion);
  const { stderr, status } = await enrich(["--project", project, "-t", tokenizer, "--revision", "2", "--skip-special-tokens"]);
  assert.equal(status, 0, stderr);
  const now = (await tracesOf(project)).filter(isVersion);
  assert.equal(now.length, 2 * versions.length);
  const sources = (/** @type {number} */ revision) => now.filter(({ metadata }) => metadata.token2text.revision === revision).map(({ metadata }) => metadata.token2text.source).sort();
  assert.deepEqual(sources(2), sources(1));
});

test("a run by its name or its id, and a report for each trace", async () => {
  const [{ id, name }] = await new TrackioReader({ url: server.url }).runs(project);
  for (const run of [id, name]) {
    const { stderr, status } = await enrich(["--project", project, "--run", run, "-t", tokenizer, "--revision", "3", "--dry-run", "--report", "json"]);
    assert.equal(status, 0);
    const lines = stderr.trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(lines.length, (await tracesOf(project)).filter((trace) => !isVersion(trace)).length);
    assert.deepEqual([lines[0].run, lines[0].format, typeof lines[0].id], [name, "trackio", "string"]);
  }
  assert.equal((await enrich(["--project", project, "-t", tokenizer, "--revision", "3", "--dry-run", "--report", "none", "--strict"])).status, 1);
});

test("wrong usage and a server that does not do as asked are told in one line", async () => {
  const token = { TRACKIO_WRITE_TOKEN: server.writeToken };
  const needed = ["--project", project, "-t", tokenizer];
  /** @type {[string[], RegExp, Record<string, string>?][]} */
  const table = [
    [["-t", tokenizer], /needs --project/],
    [["--project", project], /needs a tokenizer/],
    [["--project", "nowhere", "-t", tokenizer], new RegExp(`no project \`nowhere\` on ${server.url}; it has .*${project}`)],
    [[...needed, "--run", "nobody"], /has no run `nobody`; it has \S+/],
    [[...needed, "file.json"], /`file.json` is nothing to it/],
    [[...needed, "--revision", "x"], /--revision must be a whole number/],
    [[...needed, "--revision", "9"], /status 400: A write_token is required/, {}],
    [[...needed, "--revision", "9", "--write-token", "wrong"], /A write_token is required/],
    [[...needed, "--server", "http://127.0.0.1:1"], /no Trackio server answers at http:\/\/127.0.0.1:1/],
    [[...needed, "--server", `${server.url}/nowhere/`], /no Trackio server answers at .*404/],
    [[...needed, "--server", "nowhere"], /`url` must be the address/],
    [[...needed, "--nope"], /--nope/],
  ];
  const before = await server.ask("stored");
  for (const [args, words, env = token] of table) {
    const { status, stdout, stderr } = await enrich(args, env);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, words);
    assert.match(stderr, /^token2text: [^\n]+\n$/);
    assert.equal(stdout.length, 0);
  }
  assert.match((await token2text(["trackio"])).stderr, /^token2text: a command is missing: `token2text trackio enrich`[^\n]*\n$/);
  assert.deepEqual(await server.ask("stored"), before);
});

test("--help", async () => {
  for (const args of [["--help"], ["enrich", "-h"]]) {
    const { status, stdout } = await token2text(["trackio", ...args]);
    assert.equal(status, 0);
    assert.match(String(stdout), /^Usage: token2text trackio enrich/);
    assert.ok(String(stdout).split("\n").every((line) => line.length <= 120));
  }
});

test("a version has the turns in place of ids, and Trackio's page shows them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  const tokenizer = join(folder, "tokenizer.json");
  writeFileSync(tokenizer, jsonBytes(chatMl()));
  const ids = [OPEN, ...byteIds("user\nWhy is the sky blue?"), OPEN + 1, ...byteIds("\n"), OPEN, ...byteIds("assistant\n")];
  const metadata = { op: "generate", inputs: { prompt_ids: ids }, output: { token_ids: byteIds("It scatters.") } };
  const operation = { role: "system", content: "verl rollout trace operation: generate" };
  const messages = [
    operation,
    { role: "user", content: JSON.stringify({ inputs: metadata.inputs }) },
    { role: "assistant", content: JSON.stringify({ output: "token_ids=[73]" }) },
  ];
  const trace = { _type: "trackio.trace", messages, metadata, spans: [] };
  const entry = { project: "turns", run: "r", run_id: "4567", step: 1, log_id: "a", metrics: { "rollout_trace/generate": trace } };
  assert.equal((await exporter().export(jsonBytes({ hf_token: null, logs: [entry] }))).status, "success");
  const { status, stderr } = await enrich(["--project", "turns", "-t", tokenizer]);
  rmSync(folder, { recursive: true });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /^1 conversation written$/m);
  const [version] = (await tracesOf("turns")).filter(isVersion);
  const turns = [{ role: "user", content: "Why is the sky blue?" }, { role: "assistant", content: "It scatters." }];
  assert.deepEqual(version.messages, [operation, ...turns]);

  let isShown = false;
  await withPage({}, async (page) => {
    await page.goto(`${server.url}/traces?project=turns`);
    await page.getByText("Why is the sky blue?").first().waitFor();
    await page.getByText("It scatters.").first().waitFor();
    isShown = true;
  }).catch((error) => {
    // The page itself has errors where there is no internet.
    if (!/the page had errors/.test(String(error))) throw error;
  });
  assert.ok(isShown);
});
