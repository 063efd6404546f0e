/** Plain pages, without a bundler: the package's own files, served as they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openInChromium, openInFirefox, openServed } from "./support/pages.js";
import { PATHS, html, pageFiles } from "./support/programs.js";
import { projectWith } from "./support/project.js";
import { policy, serve } from "./support/server.js";
import { testWays } from "./support/ways.js";

const BROWSERS = /** @type {const} */ ([["chromium", openInChromium], ["firefox", openInFirefox]]);

for (const [id, open] of BROWSERS) {
  testWays(id, async (way) => openServed(await serve(projectWith(pageFiles(way, PATHS)).folder), open));

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
