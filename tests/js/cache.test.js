/** `cachedTokenizer` in headless Chromium, with a real tokenizer: plain pages, and a server that counts what it is asked. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { VERSION } from "../../pkg/version.js";
import { withPage } from "./support/browser.js";
import { listening } from "./support/server.js";
import { byteLevel, jsonBytes } from "./support/tokenizers.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("../../pkg/cache.js").CacheOptions} CacheOptions */

const PKG = fileURLToPath(new URL("../../pkg/", import.meta.url));
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html" };
const gpt2 = readFileSync(join(fetchTokenizer("gpt2"), "tokenizer.json"));
const other = jsonBytes(byteLevel());
const sha256 = createHash("sha256").update(gpt2).digest("hex");

/** What the server has, what it was asked for, and how it answered. */
let file = { body: /** @type {Uint8Array} */ (gpt2), headers: /** @type {Record<string, string>} */ ({ etag: '"1"' }) };
/** @type {number[]} */
let answers = [];
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? "", "http://host");
  if (pathname.endsWith(".json")) {
    const isSame = file.headers.etag !== undefined && request.headers["if-none-match"] === file.headers.etag;
    answers.push(isSame ? 304 : 200);
    response.writeHead(isSame ? 304 : 200, { ...file.headers, "cache-control": "no-cache" });
    return response.end(isSame ? undefined : file.body);
  }
  const type = TYPES[/** @type {keyof typeof TYPES} */ (extname(pathname))];
  response.setHeader("content-type", type ?? "text/html");
  response.end(type ? readFileSync(join(PKG, pathname)) : "<!doctype html><link rel=icon href=data:,>");
});
let url = "";
listening(server, (address) => (url = address));

/**
 * Loads in the page as it is after a visit, and waits until nothing more happens.
 *
 * @param {Page} page
 * @param {Omit<CacheOptions, "onCache">} [options]
 * @returns {Promise<{ text: string, events: string[] }>}
 */
async function load(page, options = {}, path = "/tokenizer.json") {
  answers = [];
  if (!page.url().startsWith(url)) await page.goto(url);
  else await page.reload();
  return loadHere(page, options, path);
}

/** @param {Page} page @param {Omit<CacheOptions, "onCache">} options @param {string} path */
function loadHere(page, options, path) {
  return page.evaluate(
    async ({ options, path }) => {
      const { init } = await import(/** @type {string} */ ("/index.js"));
      const { cachedTokenizer } = await import(/** @type {string} */ ("/cache.js"));
      await init();
      /** @type {string[]} */
      const events = [];
      /** @type {() => void} */
      let end;
      const ended = new Promise((resolve) => (end = () => resolve(undefined)));
      const onCache = (/** @type {import("../../pkg/cache.js").CacheEvent} */ { outcome, reason }) => {
        events.push(reason ? `${outcome}: ${reason}` : outcome);
        // What follows a hit that could be noted is silence.
        if (outcome === "hit") setTimeout(end, 50);
        if (outcome === "stored" || (outcome === "problem" && events.some((event) => event.startsWith("miss")))) end();
      };
      const tokenizer = await cachedTokenizer(path, { ...options, onCache });
      if (!("indexedDB" in globalThis) || !indexedDB) return { text: tokenizer.decode([72, 101]), events };
      await ended;
      return { text: tokenizer.decode([72, 101]), events };
    },
    { options, path },
  );
}

/** Changes every entry in the store. @param {Page} page @param {"damage" | "age"} how */
function spoil(page, how) {
  return page.evaluate(async (how) => {
    /** @type {IDBDatabase} */
    const database = await new Promise((resolve) => {
      const request = indexedDB.open("token2text");
      request.onsuccess = () => resolve(request.result);
    });
    await new Promise((resolve) => {
      const transaction = database.transaction("tokenizers", "readwrite");
      transaction.oncomplete = resolve;
      transaction.objectStore("tokenizers").openCursor().onsuccess = ({ target }) => {
        const cursor = /** @type {IDBRequest<IDBCursorWithValue | null>} */ (target).result;
        if (!cursor) return;
        if (how === "age") cursor.update({ ...cursor.value, version: "0.0.1" });
        else {
          cursor.value.packed[1000] ^= 1;
          cursor.update(cursor.value);
        }
        cursor.continue();
      };
    });
    database.close();
  }, how);
}

/** The paths in the store. @param {Page} page @returns {Promise<string[]>} */
async function kept(page) {
  const keys = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const opening = indexedDB.open("token2text");
        opening.onsuccess = () => {
          const request = opening.result.transaction("tokenizers").objectStore("tokenizers").getAllKeys();
          request.onsuccess = () => {
            opening.result.close();
            resolve(request.result);
          };
        };
      }),
  );
  return /** @type {string[]} */ (keys).map((key) => new URL(JSON.parse(key)[0]).pathname);
}

/** @param {{ body?: Uint8Array, headers?: Record<string, string> }} parts */
function serve({ body = gpt2, headers = { etag: '"1"' } } = {}) {
  file = { body, headers };
}

const OTHER_TEXT = "He";

test("the version is that of package.json", () => {
  assert.equal(VERSION, JSON.parse(readFileSync(join(PKG, "package.json"), "utf8")).version);
});

test("with a hash the second load needs no server", () =>
  withPage({}, async (page) => {
    serve();
    const first = await load(page, { hash: sha256 });
    assert.deepEqual(first.events, ["miss: it is not in the store", "stored"]);
    assert.deepEqual(answers, [200]);
    const second = await load(page, { hash: sha256.toUpperCase() });
    assert.deepEqual(second, { text: first.text, events: ["hit"] });
    assert.deepEqual(answers, []);
    // Another hash is another file, and the server does not have it.
    await assert.rejects(load(page, { hash: "0".repeat(64) }), /another file than expected/);
  }));

test("without a hash the server says whether the file is another one", () =>
  withPage({}, async (page) => {
    serve();
    const { text } = await load(page);
    assert.deepEqual(answers, [200]);
    assert.deepEqual(await load(page), { text, events: ["hit"] });
    assert.deepEqual(answers, [304], "asked under a condition");
    serve({ body: other, headers: { etag: '"2"' } });
    const changed = await load(page);
    assert.deepEqual(changed, { text: OTHER_TEXT, events: ["miss: the file on the server is another one, or may be", "stored"] });
    assert.deepEqual(answers, [200], "one request for both");
    assert.deepEqual((await load(page)).events, ["hit"]);
    serve({ body: other, headers: { "last-modified": "Mon, 02 Nov 2026 10:00:00 GMT" } });
    assert.match((await load(page)).events.join(), /^miss: .*,stored$/);
    assert.deepEqual((await load(page)).events, ["hit"]);
    serve({ body: other, headers: {} });
    assert.match((await load(page)).events.join(), /^miss: .*,problem: it is not kept: the server sends neither an ETag nor Last-Modified/);
    assert.deepEqual(await kept(page), ["/tokenizer.json"], "one entry for all that the file was");
  }));

test("what is damaged, or of another version, is replaced", () =>
  withPage({}, async (page) => {
    serve();
    const { text } = await load(page, { hash: sha256 });
    for (const [how, reason] of /** @type {["damage" | "age", RegExp][]} */ ([
      ["damage", /^miss: the entry is damaged: the packed tokenizer is cut short or damaged.*,stored$/],
      ["age", /^miss: the entry is of version 0\.0\.1 of the package,stored$/],
    ])) {
      await spoil(page, how);
      const again = await load(page, { hash: sha256 });
      assert.match(again.events.join(), reason);
      assert.equal(again.text, text);
      assert.equal(answers.length, 1);
      assert.deepEqual((await load(page, { hash: sha256 })).events, ["hit"]);
    }
  }));

test("the store stays within its bounds, and what was used last stays", () =>
  withPage({}, async (page) => {
    serve();
    const bounds = { maxEntries: 2 };
    await load(page, bounds, "/a.json");
    await load(page, bounds, "/b.json");
    assert.deepEqual((await load(page, bounds, "/a.json")).events, ["hit"]);
    await load(page, bounds, "/c.json");
    assert.deepEqual(await kept(page), ["/a.json", "/c.json"]);
    const { events } = await load(page, { maxBytes: 1000 }, "/d.json");
    assert.match(events.join(), /^miss: .*,problem: it is not kept: it has \d+ bytes, more than `maxBytes`$/);
    assert.deepEqual(await kept(page), ["/a.json", "/c.json"]);
    // Each has some 400 kB: one has room.
    await load(page, { maxBytes: 600_000 }, "/e.json");
    assert.deepEqual(await kept(page), ["/e.json"]);
  }));

test("a store that fails, or is not there, is as none", () =>
  withPage({}, async (page) => {
    serve();
    const { text } = await load(page, { hash: sha256 });
    // As where there is no room: the transaction ends without its work.
    const fill = () =>
      page.evaluate(() => {
        IDBObjectStore.prototype.put = /** @type {any} */ (function (/** @type {unknown} */ _value) {
          if (this.name === "uses") this.transaction.abort();
        });
      });
    const refuse = () =>
      page.evaluate(() => {
        indexedDB.open = () => {
          throw new DOMException("denied", "SecurityError");
        };
      });
    const remove = () => page.evaluate(() => void Object.defineProperty(globalThis, "indexedDB", { value: undefined }));
    for (const [fail, reason] of /** @type {[() => Promise<unknown>, RegExp][]} */ ([
      [fill, /^miss: it is not in the store,problem: the transaction was ended$/],
      [refuse, /^problem: denied,miss: .*,problem: denied$/],
      [remove, /^problem: there is no IndexedDB here,miss: .*$/],
    ])) {
      await page.reload();
      await fail();
      const loaded = await loadHere(page, {}, "/full.json");
      assert.equal(loaded.text, text);
      assert.match(loaded.events.join(), reason);
    }
  }));

test("a worker shares the store of its pages", () =>
  withPage({}, async (page) => {
    serve();
    const { text } = await load(page, { hash: sha256 });
    const fromWorker = await page.evaluate(async (hash) => {
      const source = `
        import { init } from "${location.origin}/index.js";
        import { cachedTokenizer } from "${location.origin}/cache.js";
        const events = [];
        await init();
        const tokenizer = await cachedTokenizer("${location.origin}/tokenizer.json", { hash: "${hash}", onCache: (event) => events.push(event.outcome) });
        postMessage({ text: tokenizer.decode([72, 101]), events });`;
      const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
      return new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      });
    }, sha256);
    assert.deepEqual(fromWorker, { text, events: ["hit"] });
  }));

test("wrong options are refused before anything is loaded", () =>
  withPage({}, async (page) => {
    for (const [path, options, words] of /** @type {[string, any, RegExp][]} */ ([
      ["/a.json", { maxEntries: 0 }, /`maxEntries` must be a whole number above 0, not 0/],
      ["/a.json", { maxBytes: 1.5 }, /`maxBytes` must be/],
      ["/a.json", { compat: "transformers4" }, /cachedTokenizer has no option `compat`/],
      ["http://[", {}, /cachedTokenizer takes a URL/],
    ])) {
      await assert.rejects(load(page, options, path), words);
      assert.deepEqual(answers, []);
    }
  }));
