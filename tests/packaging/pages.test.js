/** Plain pages, without a bundler: the package's own files, served as they are. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { byteLevel } from "../js/support/tokenizers.js";
import { withTrap } from "../js/support/trap.js";
import { openInChromium, openInFirefox, openServed } from "./support/pages.js";
import { PATHS, html, pageFiles } from "./support/programs.js";
import { projectWith } from "./support/project.js";
import { policy, serve } from "./support/server.js";
import { testWays } from "./support/ways.js";

/** Calls that a trap takes with it, and what works in the worker after it, and in the one after `terminate`. */
const RESTARTS = `import { Enricher, Tokenizer, init, strip, terminate } from "${PATHS.client}";
async function run() {
  await init("trap_bg.wasm");
  const tokenizer = await Tokenizer.load("tokenizer.json");
  const enricher = await Enricher.create(tokenizer);
  const calls = await Promise.allSettled([strip(new TextEncoder().encode("{}")), tokenizer.decode([72]), tokenizer.info]);
  const texts = [await tokenizer.decode([72, 105])];
  terminate();
  texts.push((await enricher.enrich({ output: { response_ids: [72, 105] } })).span.output.response_text);
  return { codes: calls.map(({ reason }) => reason?.code), texts };
}
globalThis.results = run();
`;

const BROWSERS = /** @type {const} */ ([["chromium", openInChromium], ["firefox", openInFirefox]]);

for (const [id, open] of BROWSERS) {
  testWays(id, async (way) => openServed(await serve(projectWith(pageFiles(way, PATHS)).folder), open));

  test(`a Web Worker is replaced after a trap and after terminate: ${id}`, async () => {
    const project = projectWith({ "index.html": html("page.js", "module"), "page.js": RESTARTS, "tokenizer.json": JSON.stringify(byteLevel()) });
    const slim = readFileSync(join(project.folder, "node_modules/token2text/slim_bg.wasm"));
    writeFileSync(join(project.folder, "trap_bg.wasm"), withTrap(slim));
    const { results } = await openServed(await serve(project.folder), open);
    assert.deepEqual(results, { codes: Array(3).fill("instance_lost"), texts: ["Hi", "Hi"] });
  });

  for (const way of /** @type {const} */ (["main", "client", "inline"])) {
    test(`a policy without 'wasm-unsafe-eval' is named in words: ${id}, ${way}`, async () => {
      const script = `import { init } from "${PATHS[way]}";
globalThis.results = init().then(() => ({}), ({ name, code, message }) => ({ name, code, message }));
`;
      const project = projectWith({ "index.html": html("page.js", "module"), "page.js": script });
      const server = await serve(project.folder, policy({ script: "'self'" }));
      try {
        const { results } = await open(server.url, /Content-Security-Policy/);
        assert.equal(results.name, "Token2TextError");
        assert.equal(results.code, "wasm_blocked", results.message);
        assert.match(results.message, /'wasm-unsafe-eval'/);
      } finally {
        await server.stop();
      }
    });
  }
}
