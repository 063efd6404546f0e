/** Everything that `init` of the entry for browsers takes, each in a process of its own: a module is started once. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { byteLevel, needsGeneral } from "./support/tokenizers.js";

const PKG = new URL("../../pkg/", import.meta.url);

const server = createServer(async (request, response) => {
  // As servers do that do not know the type, too.
  const type = request.url?.startsWith("/typed/") ? "application/wasm" : "application/octet-stream";
  response.setHeader("content-type", type).end(await readFile(new URL(`.${request.url?.slice(request.url.lastIndexOf("/"))}`, PKG)));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
after(() => server.close());
const origin = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`;

/** What is given for a file, as an expression over its address. */
const SOURCES = {
  "a string": "address",
  "a URL": "new URL(address)",
  "a Request": "new Request(address)",
  "a Response": "await fetch(address)",
  "a Response without the type": 'await fetch(address.replace("/typed/", "/"))',
  "a promise of a Response": "fetch(address)",
  "a Uint8Array": "new Uint8Array(await (await fetch(address)).arrayBuffer())",
  "an ArrayBuffer": "await (await fetch(address)).arrayBuffer()",
  "a module": "await WebAssembly.compile(await (await fetch(address)).arrayBuffer())",
};

for (const [name, source] of Object.entries(SOURCES)) {
  test(`init takes ${name}`, async () => {
    const program = `import { Tokenizer, init, read } from ${JSON.stringify(new URL("index.js", PKG).href)};
      const source = async (address) => ({ value: ${source} });
      const slim = await source("${origin}/typed/slim_bg.wasm");
      const general = await source("${origin}/typed/general_bg.wasm");
      const spans = await source("${origin}/typed/spans_bg.wasm");
      await init(slim.value, { general: general.value, spans: spans.value });
      const load = async (json) => Tokenizer.load(new TextEncoder().encode(json));
      console.log((await load(process.argv[1])).decode([72, 105]), (await load(process.argv[2])).decode([0, 1, 3]), (await read(new TextEncoder().encode("{}"))).length);`;
    const args = ["--input-type=module", "-e", program, JSON.stringify(byteLevel()), JSON.stringify(needsGeneral())];
    assert.equal((await promisify(execFile)("node", args)).stdout, "Hi a b 1\n");
  });
}
