/** The viewer on a relay: its page and the tokenizers are there, and nothing else of this machine. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { VIEWER_POLICY, viewerFiles } from "../../pkg/viewer-files.js";
import { keepingBackend, relayContext, relayTo } from "./support/relay.js";

/** @type {Awaited<ReturnType<typeof relayContext>>[]} */
const contexts = [];
/** @type {Awaited<ReturnType<typeof keepingBackend>>} */
let backend;
/** @type {Awaited<ReturnType<typeof relayTo>>[]} */
let relays;
before(async () => {
  backend = await keepingBackend();
  contexts.push(await relayContext({ viewer: true }), await relayContext());
  relays = await Promise.all(contexts.map((context) => relayTo(context, "mlflow", backend.url)));
});
after(async () => {
  for (const relay of relays) await relay.close();
  for (const context of contexts) await context.close();
  backend.close();
});

test("the page opens the collector's tokenizers", async () => {
  const response = await fetch(`${relays[0].url}/token2text/`);
  assert.equal(response.status, 200);
  assert.match(await response.text(), /<token2text-viewer page>/);
  assert.equal(response.headers.get("content-security-policy"), VIEWER_POLICY);
  const [{ file }] = contexts[0].configuration.tokenizers;
  const asked = new URL(response.url).searchParams.getAll("tokenizer");
  assert.deepEqual(asked, [`tokenizers/1/${basename(file)}`]);
  const tokenizer = await fetch(new URL(asked[0], response.url));
  assert.deepEqual(Buffer.from(await tokenizer.arrayBuffer()), readFileSync(file));
});

test("everything that the page is made of is there", async () => {
  for (const [name, { path, type }] of viewerFiles()) {
    const response = await fetch(`${relays[0].url}/token2text/${name}`);
    assert.deepEqual([response.status, response.headers.get("content-type")], [200, type], name);
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), readFileSync(path), name);
  }
});

test("no other file is", async () => {
  for (const path of ["package.json", "%2e%2e%2fpackage.json", "cli/main.js", "tokenizers/2/tokenizer.json", "%zz", "tokenizers/1/..%2f..%2f..%2fetc%2fpasswd"]) {
    const { status } = await fetch(`${relays[0].url}/token2text/${path}`);
    assert.equal(status, 404, path);
  }
});

test("requests to the backend pass, also where no viewer was asked for", async () => {
  await fetch(`${relays[0].url}/ajax-api/3.0/mlflow/traces`);
  assert.equal(backend.got?.url, "/ajax-api/3.0/mlflow/traces");
  await fetch(`${relays[0].url}/token2text/x`, { method: "POST" });
  assert.equal(backend.got?.url, "/token2text/x");
  await fetch(`${relays[1].url}/token2text/viewer.html`);
  assert.equal(backend.got?.url, "/token2text/viewer.html");
});
