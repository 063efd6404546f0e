/** The viewer on a receiver with a store: its page, the tokenizers and what the store has are there, and nothing else of this machine. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { OtlpExporter } from "../../pkg/exporters/otlp-node.js";
import { Tokenizer, read } from "../../pkg/node.js";
import { VIEWER_POLICY, viewerFiles } from "../../pkg/viewer-files.js";
import { recordedRollouts } from "../../scripts/recorded-rollouts.js";
import { anywhere, startCollector, tokenizerFile } from "./support/collector.js";
import { freshFolder } from "./support/folders.js";

const TOKEN = "a-token-of-the-tests";
const basic = (/** @type {string} */ password) => ({ authorization: `Basic ${Buffer.from(`anybody:${password}`).toString("base64")}` });

const folder = freshFolder();

/** An answer whose body was taken, so that its connection is free. @param {string | URL} url @param {RequestInit} [options] */
async function answerOf(url, options) {
  const response = await fetch(url, { redirect: "manual", ...options });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

/** @type {Awaited<ReturnType<typeof startCollector>>[]} */
const collectors = [];
/** @type {string} */ let open;
/** @type {string} */ let closed;
before(async () => {
  const stored = (/** @type {string} */ name) => ({ file: join(folder, name), bytes: 2 ** 30 });
  collectors.push(await startCollector({ receive: anywhere, store: stored("open.db") }));
  collectors.push(await startCollector({ receive: anywhere, store: stored("closed.db"), access: { token: TOKEN, hosts: [], origins: [] } }));
  [open, closed] = collectors.map(({ urls }) => urls[0]);
});
after(() => Promise.all(collectors.map((collector) => collector.close())));

test("the address of the receiver is the page of its store, with the collector's tokenizers", async () => {
  const moved = await answerOf(`${open}/`);
  assert.equal(moved.status, 302);
  // Behind a proxy the same page has another path.
  const location = moved.headers.get("location") ?? "";
  assert.match(location, /^viewer\.html\?/);
  const page = new URL(location, `${open}/`);
  assert.deepEqual(page.searchParams.getAll("collector"), ["."]);
  const asked = page.searchParams.getAll("tokenizer");
  assert.deepEqual(asked, [`tokenizers/1/${basename(tokenizerFile)}`]);
  const response = await answerOf(page);
  assert.match(`${response.body}`, /<token2text-viewer page>/);
  assert.equal(response.headers.get("content-security-policy"), VIEWER_POLICY);
  assert.deepEqual((await answerOf(new URL(asked[0], page))).body, readFileSync(tokenizerFile));
});

test("everything that the page is made of is there, to be kept until it is another", async () => {
  for (const [name, { path, type }] of viewerFiles()) {
    const response = await answerOf(`${open}/${name}`);
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, type], name);
    assert.deepEqual(response.body, readFileSync(path), name);
    const again = await answerOf(`${open}/${name}`, { headers: { "if-none-match": response.headers.get("etag") ?? "" } });
    assert.equal(again.status, 304, name);
  }
  const { status, headers } = await answerOf(`${open}/viewer.js`, { method: "HEAD" });
  assert.deepEqual([status, headers.get("content-length")], [200, `${readFileSync(viewerFiles().get("viewer.js")?.path ?? "").length}`]);
});

test("no other file is, and receiving is as it was", async () => {
  for (const path of ["package.json", "%2e%2e%2fpackage.json", "cli/main.js", "tokenizers/2/tokenizer.json", "%zz", "tokenizers/1/..%2f..%2fetc%2fpasswd", "open.db"]) {
    const { status, body } = await answerOf(`${open}/${path}`);
    // What is no path is told so by the listener itself.
    assert.equal(status, path === "%zz" ? 400 : 404, path);
    assert.doesNotMatch(`${body}`, /root:|token2text-collector"/);
  }
  assert.equal((await answerOf(`${open}/v1/logs`, { method: "POST" })).status, 404);
  assert.equal((await answerOf(`${open}/viewer.html`, { method: "POST" })).status, 404);
  const [rollout] = await recordedRollouts("verl-calls-qwen3");
  assert.equal((await new OtlpExporter({ url: `${open}/v1/traces` }).export(rollout)).status, "success");
  const stored = await answerOf(`${open}/v1/traces/${rollout[0].traceId}`);
  const spans = await read(stored.body);
  const tokenizer = await Tokenizer.load(tokenizerFile);
  const ids = JSON.parse(rollout[0].output ?? "{}").token_ids;
  assert.ok(spans.some(({ output = "" }) => JSON.parse(output).response_text === tokenizer.decode(ids)));
});

test("with a token the page asks for it as browsers understand, and takes it as a password", async () => {
  for (const path of ["/", "/viewer.js", "/tokenizers/1/tokenizer.json", "/v1/traces"]) {
    const refused = await answerOf(closed + path);
    assert.equal(refused.status, 401, path);
    assert.match(refused.headers.get("www-authenticate") ?? "", /Basic realm="token2text"/);
    assert.equal((await answerOf(closed + path, { headers: basic("another") })).status, 401, path);
    assert.equal((await answerOf(closed + path, { headers: basic(TOKEN) })).status, path === "/" ? 302 : 200, path);
    assert.equal((await answerOf(closed + path, { headers: { authorization: `Bearer ${TOKEN}` } })).status, path === "/" ? 302 : 200, path);
  }
});

test("a name that is not the listener's gets no page", async () => {
  const { port } = new URL(open);
  const status = await new Promise((resolve, reject) => {
    request({ port, path: "/viewer.html", headers: { host: "rebound.example" } }, (response) => resolve(response.resume().statusCode)).on("error", reject).end();
  });
  assert.equal(status, 403);
});
