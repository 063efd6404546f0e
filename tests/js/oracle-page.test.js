// In Chromium every real tokenizer gives the reference's texts: all cases, each id in a run of ten, and ids at random. What a page does
// otherwise than Node is how texts come out of WebAssembly; tests/wasm.rs runs the hand-made tokenizers there.
import assert from "node:assert/strict";
import { createReadStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { withPage } from "./support/browser.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TYPES = { ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm" };
/** @type {{ tokenizers: { key: string }[] }} */
const { tokenizers } = JSON.parse(readFileSync(join(ROOT, "tests/oracle/tokenizers.json"), "utf8"));

/** Runs in the page. @param {string} key */
async function compare(key) {
  // Of the server below; in a variable, for they are no files beside this one.
  const [index, oracle] = ["/pkg/index.js", "/tests/js/support/oracle.js"];
  /** @type {typeof import("../../pkg/index.js")} */
  const { Tokenizer, init } = await import(index);
  /** @type {typeof import("./support/oracle.js")} */
  const { checkReal } = await import(oracle);
  await init();
  const expected = await (await fetch(`/tests/oracle/expected/${key}.json`)).json();
  const tokenizer = await Tokenizer.load(`/.cache/tokenizers/${key}/tokenizer.json`);
  const sha256 = async (/** @type {Uint8Array<ArrayBuffer>} */ bytes) => {
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  return checkReal(tokenizer, key, expected, sha256, (name) => name === "run" || name === "random");
}

test("in Chromium every tokenizer decodes as the reference does", async () => {
  const server = createServer((request, response) => {
    const path = (request.url ?? "").slice(1);
    if (path === "") return response.setHeader("content-type", "text/html").end("<!doctype html>");
    response.setHeader("content-type", TYPES[/** @type {keyof typeof TYPES} */ (extname(path))] ?? "application/octet-stream");
    createReadStream(join(ROOT, path)).on("error", () => response.writeHead(404).end()).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  try {
    let texts = 0;
    await withPage({ ignored: /favicon/ }, async (page) => {
      await page.goto(`http://127.0.0.1:${port}/`);
      for (const { key } of tokenizers) texts += await page.evaluate(compare, key);
    });
    assert.ok(tokenizers.length === 19 && texts > 500_000, `${texts} texts of ${tokenizers.length} tokenizers`);
  } finally {
    server.close();
  }
});
