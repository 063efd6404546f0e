/** Vite, webpack and esbuild as they come, without a configuration for this package. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openInChromium, openServed } from "./support/pages.js";
import { SPECIFIERS, html, pageFiles, runModule, serverFiles } from "./support/programs.js";
import { emptyProject, projectWith, run, start } from "./support/project.js";
import { policy, serve } from "./support/server.js";
import { pinned } from "./support/versions.js";
import { assertAllPassed, testWays } from "./support/ways.js";

/** @typedef {import("./support/project.js").Project} Project */
/** @typedef {import("./environments.js").Way} Way */

const WASM = ["slim_bg.wasm", "general_bg.wasm", "reader_bg.wasm", "spans_bg.wasm"];

testWays("vite-build", async (way) => {
  const project = projectWith(pageFiles(way));
  await run(project, "vite", ["build"]);
  return { ...(await openBuilt(project)), version: pinned("vite") };
});

testWays("vite-dev", async (way) => {
  // A server on its own folder only hears the reports.
  const listener = await serve(projectWith({}).folder);
  // The development server's client talks to it by a WebSocket.
  const headers = { "content-security-policy": policy({ connect: "'self' ws:", reportTo: listener.reportTo }) };
  const project = projectWith({ ...pageFiles(way), "vite.config.js": `export default { server: { headers: ${JSON.stringify(headers)} } };` });
  const { url, stop } = await start(project, "vite", ["--host", "127.0.0.1"], (printed) => printed.match(/http:\/\/\S+/)?.[0]);
  try {
    return { ...(await openServed({ ...listener, url }, openInChromium)), version: pinned("vite") };
  } finally {
    await stop();
  }
});

testWays("webpack", async (way) => {
  const project = projectWith(pageFiles(way));
  await run(project, "webpack", ["--entry", "./page.js", "--mode", "production"]);
  project.write({ "dist/index.html": html("main.js", "text/javascript") });
  return { ...(await openBuilt(project)), version: pinned("webpack") };
});

/** What else has to be a file of its own. @type {Partial<Record<Way, string[]>>} */
const ESBUILD_ENTRIES = { ownWorker: ["own-worker.js"], client: ["worker-host=token2text/worker-host"] };

testWays("esbuild-browser", async (way) => {
  const project = projectWith(pageFiles(way));
  await run(project, "esbuild", ["page.js", ...(ESBUILD_ENTRIES[way] ?? []), "--bundle", "--format=esm", "--outdir=dist"]);
  if (way !== "inline") {
    for (const name of WASM) cpSync(join(project.folder, "node_modules/token2text", name), join(project.folder, "dist", name));
  }
  project.write({ "dist/index.html": html("page.js", "module") });
  return { ...(await openBuilt(project)), version: pinned("esbuild") };
});

for (const [format, extension] of /** @type {const} */ ([["esm", "mjs"], ["cjs", "cjs"]])) {
  testWays(`esbuild-node-${format}`, async (way) => {
    const project = projectWith(serverFiles(way));
    const bundle = `bundle.${extension}`;
    await run(project, "esbuild", ["main.mjs", "--bundle", "--platform=node", `--format=${format}`, `--outfile=${bundle}`]);
    // It stands alone: in an empty folder, without the package.
    const alone = emptyProject();
    cpSync(join(project.folder, bundle), join(alone.folder, bundle));
    return { results: JSON.parse(await run(alone, process.execPath, [bundle])), version: pinned("esbuild") };
  });
}

test("addresses given to init are followed: .wasm files and the worker's script in a folder of their own", async () => {
  const later = 'general: "/files/general_bg.wasm", reader: "/files/reader_bg.wasm", spans: "/files/spans_bg.wasm"';
  const init = `"/files/slim_bg.wasm", { ${later}, worker: "/files/worker-host.js" }`;
  const project = projectWith({ ...pageFiles("client"), "run.js": runModule("client", SPECIFIERS, init) });
  const entries = ["page.js", "files/worker-host=token2text/worker-host"];
  await run(project, "esbuild", [...entries, "--bundle", "--format=esm", "--outdir=dist"]);
  for (const name of WASM) cpSync(join(project.folder, "node_modules/token2text", name), join(project.folder, "dist/files", name));
  project.write({ "dist/index.html": html("page.js", "module") });
  assertAllPassed((await openBuilt(project)).results);
});

test("Vite gives the addresses of the .wasm files for an import with ?url", async () => {
  const urls = WASM.map((name, i) => `import wasm${i} from "token2text/${name}?url";\n`).join("");
  const init = "wasm0, { general: wasm1, reader: wasm2, spans: wasm3 }";
  const project = projectWith({ ...pageFiles("client"), "run.js": urls + runModule("client", SPECIFIERS, init) });
  await run(project, "vite", ["build"]);
  assertAllPassed((await openBuilt(project)).results);
});

/** @param {Project} project */
async function openBuilt({ folder }) {
  return openServed(await serve(join(folder, "dist")), openInChromium);
}
