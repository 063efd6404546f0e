/** The entry for browsers, loaded in Node: a process of its own, since the module is shared with the entry for Node. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Enricher, Tokenizer, init, strip } from "../../pkg/index.js";
import { failure } from "./support/expect.js";
import { byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";

const plain = jsonBytes(byteLevel());
const wasm = (/** @type {string} */ name) => readFile(new URL(`../../pkg/${name}_bg.wasm`, import.meta.url));

test("everything before init says what to do", async () => {
  const words = /call `await init\(\)` once/;
  assert.throws(() => Tokenizer.fromBytes(plain), failure("not_initialised", words));
  await assert.rejects(Tokenizer.load(plain), failure("not_initialised", words));
  assert.throws(() => new Enricher(/** @type {any} */ ({})), failure("not_initialised", words));
  assert.throws(() => strip(plain), failure("not_initialised", words));
});

test("a failed init can be tried again", async () => {
  await assert.rejects(init(Promise.reject(new Error("no network"))), /no network/);
  await assert.rejects(init(new Response("no", { status: 404 })));
  assert.throws(() => Tokenizer.fromBytes(plain), failure("not_initialised", /init/));
});

test("init is done once, and general waits until a file needs it", async () => {
  let asked = 0;
  // A promise that starts when it is first awaited, to see whether it is.
  const general = /** @type {Promise<Buffer>} */ ({
    then: (/** @type {any} */ resolve, /** @type {any} */ reject) => {
      asked++;
      return wasm("general").then(resolve, reject);
    },
  });
  const first = init(wasm("slim"), { general });
  assert.equal(init(), first);
  await first;
  const tokenizer = Tokenizer.fromBytes(plain);
  assert.equal(tokenizer.decode([72, 105]), "Hi");
  assert.equal(asked, 0);

  const rare = jsonBytes(needsGeneral());
  assert.throws(() => Tokenizer.fromBytes(rare), failure("engine_not_available", /await Tokenizer\.load/));
  assert.throws(() => Tokenizer.fromBytes(plain, { engine: "general" }), failure("engine_not_available", /await Tokenizer\.load/));
  assert.equal((await Tokenizer.load(rare)).decode([0, 1, 3]), "a b");
  assert.equal(asked, 1);
  assert.equal(Tokenizer.fromBytes(rare).info.engine, "general");
});

test("strings are URLs here, also where they look like paths", async () => {
  await assert.rejects(Tokenizer.load("no/such/tokenizer.json"), failure("unreadable_source", /no\/such\/tokenizer\.json/));
});
