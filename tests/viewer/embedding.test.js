/** The element in other people's pages: plain HTML, React and Vue; and its types. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "../packaging/support/server.js";
import { byteIds, chatMl } from "../js/support/tokenizers.js";
import { ROOT, callRecord, jsonLines, temporaryFolder } from "./support/fixtures.js";
import { rowsOf, withViewer } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const APPS = fileURLToPath(new URL("apps", import.meta.url));
const MODULES = fileURLToPath(new URL("node_modules", import.meta.url));
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' data:; report-uri /csp-report";
const { folder, write } = temporaryFolder();

const TRACE = jsonLines([
  callRecord({ prompt: byteIds("Say hello. "), response: byteIds("Hello, world!"), traceId: "0af7651916cd43dd8448eb211c80319c" }),
  callRecord({ prompt: byteIds("Say bye. "), response: byteIds("Bye, world!"), requestId: "r2", traceId: "1af7651916cd43dd8448eb211c80319c" }),
]);

/** A project as `npm install token2text` makes it, with the tools of this folder. */
before(() => {
  cpSync(APPS, folder, { recursive: true });
  for (const app of ["react", "vue", "types"]) {
    const modules = join(folder, app, "node_modules");
    mkdirSync(modules, { recursive: true });
    cpSync(join(ROOT, "pkg"), join(modules, "token2text"), { recursive: true });
    for (const name of ["react", "react-dom", "scheduler", "vue", "@vue", "vite", "@vitejs", "typescript", "@types", "csstype"]) symlinkSync(join(MODULES, name), join(modules, name));
  }
  cpSync(join(ROOT, "pkg"), join(folder, "plain/token2text"), { recursive: true });
});

/** @param {string} app @param {string} program @param {string[]} args */
function runTool(app, program, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(MODULES, program), ...args], { cwd: join(folder, app), encoding: "utf8" });
  assert.equal(status, 0, `${program}: ${stdout}${stderr}`);
}

/**
 * Opens a page with the element, which says on `document.body.dataset` what it heard, and looks at a rollout in it.
 *
 * @param {string} site
 */
async function tryOut(site) {
  write(`${site}/tokenizer.json`, chatMl());
  write(`${site}/trace.jsonl`, TRACE);
  const server = await serve(join(folder, site), POLICY);
  try {
    await withViewer({ url: server.url }, async (page) => {
      await rowsOf(page).nth(1).waitFor();
      await page.locator("body[data-loaded='2']").waitFor();
      await rowsOf(page).nth(1).click();
      await page.locator("t2t-chat").getByText("Bye, world!").first().waitFor();
      await page.locator("body[data-selected='r2']").waitFor();
      // An element of a page leaves the page's address and keys alone.
      assert.equal(new URL(page.url()).hash, "");
      await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).blur());
      await page.keyboard.press("?");
      assert.equal(await page.getByRole("dialog").count(), 0);
    });
    assert.deepEqual(server.reports, []);
  } finally {
    await server.stop();
  }
}

test("plain HTML: the package's own files, no bundler and no import map", () => tryOut("plain"));

test("React", async () => {
  runTool("react", "vite/bin/vite.js", ["build", "--logLevel", "error"]);
  await tryOut("react/dist");
});

test("Vue", async () => {
  runTool("vue", "vite/bin/vite.js", ["build", "--logLevel", "error"]);
  await tryOut("vue/dist");
});

test("properties that are changed, errors that are told, and an element that is moved", async () => {
  write("plain/tokenizer.json", chatMl());
  write("plain/trace.jsonl", TRACE);
  write("plain/one.jsonl", TRACE.split("\n")[0]);
  const server = await serve(join(folder, "plain"), POLICY);
  try {
    await withViewer({ url: server.url, expected: /404/ }, async (page) => {
      await rowsOf(page).nth(1).waitFor();
      await page.locator("token2text-viewer").evaluate((/** @type {any} */ viewer) => (viewer.trace = "one.jsonl"));
      await page.locator("body[data-loaded='1']").waitFor();
      await page.locator("token2text-viewer").evaluate((/** @type {any} */ viewer) => (viewer.trace = "missing.jsonl"));
      await page.locator("body[data-error]").waitFor();
      await page.locator("token2text-viewer").evaluate((/** @type {any} */ viewer) => {
        const aside = document.createElement("aside");
        document.body.append(aside);
        aside.append(viewer);
        viewer.trace = new Blob(["{}"]);
        viewer.trace = new File([new Uint8Array()], "empty.jsonl");
        viewer.trace = "trace.jsonl";
      });
      await rowsOf(page).nth(1).waitFor();
      const parts = await page.locator("token2text-viewer").evaluate((viewer) => [.../** @type {ShadowRoot} */ (viewer.shadowRoot).querySelectorAll("[part]")].map((element) => element.getAttribute("part")));
      for (const part of ["toolbar", "list", "rollout", "search", "sources"]) assert.ok(parts.includes(part), `${part} of ${parts}`);
    });
  } finally {
    await server.stop();
  }
});

test("a program in TypeScript that uses the element", () => {
  for (const resolution of [["bundler", "esnext"], ["nodenext", "nodenext"]]) {
    runTool("types", "typescript/bin/tsc", ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--lib", "es2022,dom,dom.iterable,esnext.disposable", "--moduleResolution", resolution[0], "--module", resolution[1], "main.ts"]);
  }
  assert.match(readFileSync(join(folder, "types/main.ts"), "utf8"), /@ts-expect-error/);
});

