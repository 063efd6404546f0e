import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { failure } from "./support/expect.js";
import { byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";

const plain = jsonBytes(byteLevel());
const gzip = gzipSync(plain);
const sha256 = createHash("sha256").update(plain).digest("hex");
const folder = mkdtempSync(join(tmpdir(), "token2text-"));
const path = join(folder, "tokenizer.json");
writeFileSync(path, plain);
writeFileSync(`${path}.gz`, gzip);

const HTML = "\n<!DOCTYPE html><html><title>Sign in</title></html>";
/** @type {Record<string, (response: import("node:http").ServerResponse) => void>} */
const ROUTES = {
  "/tokenizer.json": (response) => response.setHeader("content-length", plain.length).end(plain),
  "/tokenizer.json.gz": (response) => response.end(gzip),
  "/encoded.json": (response) => response.setHeader("content-encoding", "gzip").end(gzip),
  "/page": (response) => response.setHeader("content-type", "text/html").end(HTML),
  "/forbidden": (response) => response.writeHead(403).end("no"),
  "/slow": (response) => response.write(plain.subarray(0, 10)),
  "/cut": (response) => {
    response.setHeader("content-length", plain.length).write(plain.subarray(0, 10));
    setTimeout(() => response.destroy(), 50);
  },
};
const server = createServer((request, response) => (ROUTES[request.url ?? ""] ?? ((r) => r.writeHead(404).end()))(response));
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const origin = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;

after(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

/** @param {any} source @param {any} [options] */
const load = (source, options) => Tokenizer.load(source, options);

test("every source loads, plain and gzip", async () => {
  const sources = {
    "URL": new URL("/tokenizer.json", origin),
    "string URL": `${origin}/tokenizer.json`,
    "gzip by URL": `${origin}/tokenizer.json.gz`,
    "content-encoding": `${origin}/encoded.json`,
    "path": path,
    "path to gzip": `${path}.gz`,
    "file URL": pathToFileURL(path),
    "string file URL": pathToFileURL(path).href,
    "data URL": `data:application/json;base64,${Buffer.from(plain).toString("base64")}`,
    "Response": new Response(plain),
    "gzip Response": new Response(gzip),
    "Blob": new Blob([plain]),
    "File": new File([gzip], "tokenizer.json.gz"),
    "Uint8Array": plain,
    "Buffer": Buffer.from(plain),
    "gzip bytes": gzip,
    "ArrayBuffer": plain.buffer,
  };
  for (const [name, source] of Object.entries(sources)) {
    const tokenizer = await load(source);
    assert.equal(tokenizer.decode([72, 105, 256]), "Hi world", name);
    tokenizer.free();
  }
});

test("progress counts bytes up to the total", async () => {
  for (const [source, size] of /** @type {[any, number][]} */ ([[`${origin}/tokenizer.json`, plain.length], [path, plain.length], [`${path}.gz`, gzip.length], [new Blob([plain]), plain.length], [plain, plain.length]])) {
    /** @type {{ loaded: number, total?: number }[]} */
    const seen = [];
    await load(source, { onProgress: (/** @type {any} */ progress) => seen.push(progress) });
    assert.deepEqual(seen.at(-1), { loaded: size, total: size });
  }
});

test("progress has no total where the sender gives none", async () => {
  /** @type {any[]} */
  const seen = [];
  await load(`${origin}/encoded.json`, { onProgress: (/** @type {any} */ progress) => seen.push(progress) });
  assert.deepEqual(seen.at(-1), { loaded: plain.length });
});

test("the hash is that of the plain file", async () => {
  for (const source of [plain, gzip, path]) {
    assert.equal((await load(source, { hash: sha256.toUpperCase() })).info.sha256, sha256);
  }
  await assert.rejects(load(plain, { hash: "0".repeat(64) }), failure("invalid_tokenizer", new RegExp(`its SHA-256 is ${sha256}`)));
  for (const hash of ["abc", 5, null]) {
    await assert.rejects(load(plain, { hash }), failure("invalid_options", /64 hex digits/));
  }
});

test("what cannot be read is told in words", async () => {
  await assert.rejects(load(`${origin}/nothing`), failure("unreadable_source", /\/nothing: the server answered 404 Not Found/));
  await assert.rejects(load(`${origin}/forbidden`), failure("unreadable_source", /403 Forbidden/));
  await assert.rejects(load(`${origin}/cut`), failure("unreadable_source", /cannot read .*\/cut/));
  await assert.rejects(load("http://127.0.0.1:9/t.json"), failure("unreadable_source", /127\.0\.0\.1:9/));
  await assert.rejects(load(join(folder, "missing.json")), failure("unreadable_source", /missing\.json.*no such file/));
  await assert.rejects(load(folder), failure("unreadable_source", /cannot read/));
  const used = new Response(plain);
  await used.arrayBuffer();
  await assert.rejects(load(used), failure("unreadable_source", /no body left/));
});

test("an HTML page is named as one", async () => {
  await assert.rejects(load(`${origin}/page`), failure("invalid_tokenizer", /\/page is an HTML page, not a tokenizer\.json/));
});

test("a cut gzip file is named as one", async () => {
  await assert.rejects(load(gzip.subarray(0, gzip.length - 12)), failure("invalid_tokenizer", /incomplete gzip/));
});

test("other values are refused", async () => {
  for (const source of [5, null, undefined, {}, []]) {
    await assert.rejects(load(source), failure("invalid_options", /a URL, a path/));
  }
  await assert.rejects(load(plain, { progress() {} }), failure("invalid_options", /no option `progress`/));
});

test("an abort ends the load, before and during it", async () => {
  await assert.rejects(load(plain, { signal: AbortSignal.abort() }), { name: "AbortError", code: "aborted" });
  const controller = new AbortController();
  const loading = load(`${origin}/slow`, { signal: controller.signal, onProgress: () => controller.abort() });
  await assert.rejects(loading, { name: "AbortError", code: "aborted" });
});

test("a progress function that throws ends the load with its error", async () => {
  const onProgress = () => {
    throw new TypeError("mine");
  };
  await assert.rejects(load(plain, { onProgress }), failure("unreadable_source", /mine/));
});

test("odd options are named", async () => {
  const cyclic = { a: {} };
  cyclic.a = cyclic;
  for (const [options, words] of /** @type {[any, RegExp][]} */ ([
    [{ config: cyclic }, /`config` cannot be written as JSON/],
    [{ compat: 1n }, /cannot be written as JSON/],
    [{ signal: 5 }, /`signal` must be an AbortSignal, not 5/],
    [{ onProgress: 5 }, /`onProgress` must be a function, not 5/],
  ])) {
    await assert.rejects(load(plain, options), failure("invalid_options", words));
  }
  for (const config of [Promise.resolve({}), new Map(), new Blob()]) {
    assert.throws(() => Tokenizer.fromBytes(plain, { config }), failure("invalid_options", /`config` must be tokenizer_config\.json as an object/));
  }
});

test("shared memory is a source", async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(plain.length));
  shared.set(plain);
  assert.equal((await load(shared)).decode([72]), "H");
  assert.equal((await load(shared.buffer)).decode([72]), "H");
});

test("the general engine is loaded when a file needs it, and on request", async () => {
  const bytes = jsonBytes(needsGeneral());
  for (const tokenizer of [Tokenizer.fromBytes(bytes), await load(bytes)]) {
    assert.equal(tokenizer.info.engine, "general");
    assert.equal(tokenizer.decode([0, 1, 3]), "a b");
  }
  const asked = Tokenizer.fromBytes(plain, { engine: "general" });
  assert.equal(asked.decode([72, 105]), "Hi");
});

test("tokenizers of two engines share an enricher", async () => {
  const general = await load(jsonBytes(needsGeneral()));
  const slim = await load(plain);
  const enrichers = [new Enricher({ a: slim, "*": general }), new Enricher({ a: general, "*": slim })];
  slim.free();
  const texts = enrichers.map((enricher) => ["a", "b"].map((model) => {
    const { span } = enricher.enrich({ model, output: { response_ids: [97, 1], response_text: null } });
    return span.output.response_text;
  }));
  assert.deepEqual(texts, [["a\u0001", " "], [" ", "a\u0001"]]);
});

test("a packed tokenizer of a transformers reading is that reading", async () => {
  const config = { clean_up_tokenization_spaces: true, tokenizer_class: "GPT2Tokenizer" };
  const packed = (await load(plain, { compat: "transformers4", config })).pack();
  const again = Tokenizer.fromBytes(packed);
  assert.equal(again.decode([72, 105, 32, 33]), "Hi!");
  assert.throws(() => Tokenizer.fromBytes(packed, { compat: "transformers4" }), failure("invalid_options", /already holds its reading/));
  writeFileSync(`${path}.t2t`, packed);
  assert.equal((await load(`${path}.t2t`)).decode([72, 105, 32, 33]), "Hi!");
});

test("the config comes as object, text, bytes or from a source", async () => {
  const config = { clean_up_tokenization_spaces: true, tokenizer_class: "GPT2Tokenizer" };
  const text = JSON.stringify(config);
  const configPath = join(folder, "tokenizer_config.json");
  writeFileSync(configPath, text);
  for (const given of [config, text, jsonBytes(config), configPath, pathToFileURL(configPath), new Blob([text])]) {
    const tokenizer = await load(plain, { compat: "transformers4", config: given });
    assert.equal(tokenizer.decode([72, 105, 32, 33]), "Hi!", "spaces before punctuation are cleaned up");
  }
  await assert.rejects(load(plain, { compat: "transformers4", config: 5 }), failure("invalid_options", /config/));
});
