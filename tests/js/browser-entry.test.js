/** The entry for browsers, loaded in Node: a process of its own, since the module is shared with the entry for Node. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Enricher, Tokenizer, init, read, strip, write } from "../../pkg/index.js";
import { failure } from "./support/expect.js";
import { byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";

const plain = jsonBytes(byteLevel());
const wasm = (/** @type {string} */ name) => readFile(new URL(`../../pkg/${name}_bg.wasm`, import.meta.url));

/** A whole module that exports nothing. */
const OTHER_MODULE = new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));

test("everything before init says what to do", async () => {
  const words = /call `await init\(\)` once/;
  assert.throws(() => Tokenizer.fromBytes(plain), failure("not_initialised", words));
  await assert.rejects(Tokenizer.load(plain), failure("not_initialised", words));
  assert.throws(() => new Enricher(/** @type {any} */ ({})), failure("not_initialised", words));
  assert.throws(() => strip(plain), failure("not_initialised", words));
  await assert.rejects(read(plain), failure("not_initialised", words));
  await assert.rejects(write([], "record"), failure("not_initialised", words));
});

test("a failed init says why, and can be tried again", async () => {
  const cut = (await wasm("slim")).subarray(0, 1000);
  const html = new Response("<!DOCTYPE html>", { headers: { "content-type": "text/html; charset=utf-8" } });
  const cure = /Serve the package's slim_bg\.wasm and give its address to init\(url\), or import "token2text\/inline"/;
  for (const [source, code, words] of /** @type {[any, string, RegExp][]} */ ([
    [Promise.reject(new Error("no network")), "unreadable_source", /^no network\. Serve/],
    [new Response("no", { status: 404 }), "unreadable_source", /the server answered 404/],
    [html, "unreadable_source", /is an HTML page, not slim_bg\.wasm/],
    ["http://127.0.0.1:9/slim_bg.wasm", "unreadable_source", /cannot read http:\/\/127\.0\.0\.1:9\/slim_bg\.wasm/],
    [new URL("http://127.0.0.1:9/slim_bg.wasm"), "unreadable_source", cure],
    [cut, "unreadable_source", /slim_bg\.wasm is damaged, or of another version/],
    [new TextEncoder().encode("<!DOCTYPE html>"), "unreadable_source", cure],
    [wasm("general"), "unreadable_source", /this WebAssembly module is not slim_bg\.wasm\. Serve/],
    [OTHER_MODULE, "unreadable_source", /this WebAssembly module is not slim_bg\.wasm\. Serve/],
    [5, "invalid_options", /init takes slim_bg\.wasm as a URL, a Response, bytes or a WebAssembly\.Module, not 5/],
    [{}, "invalid_options", /not an object/],
    [null, "invalid_options", /not null/],
  ])) {
    await assert.rejects(init(source), failure(code, words));
  }
  assert.throws(() => Tokenizer.fromBytes(plain), failure("not_initialised", /init/));
});

test("the options of init are checked", async () => {
  await assert.rejects(init(wasm("slim"), /** @type {any} */ (null)), failure("invalid_options", /options of init must be an object, not null/));
  await assert.rejects(init(wasm("slim"), /** @type {any} */ ({ generel: "" })), failure("invalid_options", /no option `generel`/));
});

/** Promises that start when they are awaited, to see whether they are, each with its next outcome. */
const asked = { general: 0, spans: 0 };
/** @param {"general" | "spans"} name @param {() => Promise<Buffer>} give */
const awaited = (name, give) => /** @type {Promise<Buffer>} */ ({
  then: (/** @type {any} */ resolve, /** @type {any} */ reject) => {
    asked[name]++;
    return give().then(resolve, reject);
  },
});

test("init is done once, and general waits until a file needs it", async () => {
  // The first two requests for the spans fail.
  const spans = awaited("spans", () => (asked.spans <= 2 ? Promise.reject(new Error("no network")) : wasm("spans")));
  const first = init(WebAssembly.compile(await wasm("slim")), { general: awaited("general", () => wasm("general")), spans });
  assert.equal(init(), first);
  await first;
  const tokenizer = Tokenizer.fromBytes(plain);
  assert.equal(tokenizer.decode([72, 105]), "Hi");
  assert.deepEqual(asked, { general: 0, spans: 0 });

  const rare = jsonBytes(needsGeneral());
  assert.throws(() => Tokenizer.fromBytes(rare), failure("engine_not_available", /await Tokenizer\.load/));
  assert.throws(() => Tokenizer.fromBytes(plain, { engine: "general" }), failure("engine_not_available", /await Tokenizer\.load/));
  // An abort does not wait for it.
  const aborted = Tokenizer.load(rare, { signal: AbortSignal.timeout(1) });
  await assert.rejects(aborted, failure("aborted", /loading the tokenizer was aborted/));
  assert.equal((await Tokenizer.load(rare)).decode([0, 1, 3]), "a b");
  assert.deepEqual(asked, { general: 1, spans: 0 });
  assert.equal(Tokenizer.fromBytes(rare).info.engine, "general");
});

test("conversations need spans, which only the way that waits can load", async () => {
  const tokenizer = Tokenizer.fromBytes(plain);
  assert.throws(() => new Enricher(tokenizer, { messages: true }), failure("engine_not_available", /await Enricher\.create/));
  assert.throws(() => strip(plain, { messages: true }), failure("engine_not_available", /await Enricher\.create/));
  assert.deepEqual(asked, { general: 1, spans: 0 });
  // With a tokenizer of the general module all is there.
  new Enricher(Tokenizer.fromBytes(jsonBytes(needsGeneral())), { messages: true }).free();
  await assert.rejects(Enricher.create(tokenizer, { messages: true }), failure("engine_not_available", /the option `messages` needs spans_bg\.wasm, .*no network/));
  assert.deepEqual(asked, { general: 1, spans: 1 });
});

test("spans waits until spans are read or written, is asked for once, and again after a failure", async () => {
  const body = new TextEncoder().encode('{"output": {"token_ids": [1]}}');
  const words = /^(read|write) needs spans_bg\.wasm, which could not be loaded: no network\. Serve .* init\(undefined, { spans: url }\)/;
  await Promise.all([read(body), write([], "record")].map((call) => assert.rejects(call, failure("engine_not_available", words))));
  assert.deepEqual(asked, { general: 1, spans: 2 });
  const [[span], written] = await Promise.all([read(body), write([{ name: "a" }], "record")]);
  assert.deepEqual(span.fields[0].ids, Uint32Array.of(1));
  assert.equal(new TextDecoder().decode(written), '{"name":"a"}\n');
  await read(body);
  assert.deepEqual(asked, { general: 1, spans: 3 });
  // Now it is there.
  new Enricher(Tokenizer.fromBytes(plain), { messages: true }).free();
});

test("strings are URLs here, also where they look like paths", async () => {
  await assert.rejects(Tokenizer.load("no/such/tokenizer.json"), failure("unreadable_source", /no\/such\/tokenizer\.json/));
});
