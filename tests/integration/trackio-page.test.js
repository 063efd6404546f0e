/** A page on Trackio's own origin, as `trackio show --frontend` serves it, in Chromium: it reads traces, enriches them and writes them back. */
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { TrackioExporter } from "../../pkg/exporters/trackio.js";
import { withPage } from "../js/support/browser.js";
import { byteIds, byteLevel, jsonBytes } from "../js/support/tokenizers.js";
import { Trackio } from "./support/trackio.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));
const PAGE = `<!doctype html>
<title>token2text</title>
<output></output>
<script type="module">
  import { Enricher, Tokenizer, init } from "./token2text/index.js";
  import { TrackioExporter, TrackioReader, enrichStored } from "./token2text/exporters/trackio.js";

  const { searchParams } = new URL(location.href);
  await init();
  const enricher = new Enricher(await Tokenizer.load("./tokenizer.json"), { format: "trackio" });
  const reader = new TrackioReader({ url: location.origin });
  const exporter = new TrackioExporter({ url: location.href });
  const project = searchParams.get("project");
  const said = [];
  for (const { id: runId } of await reader.runs(project)) {
    const pages = enrichStored(reader, enricher, { project, runId }, (body) => exporter.export(body));
    for await (const { written, present, result } of pages) said.push(\`\${result.status}: \${written} written, \${present} there\`);
  }
  document.querySelector("output").textContent = said.join("; ");
</script>
`;

const frontend = mkdtempSync(join(tmpdir(), "token2text-frontend-"));
cpSync(PKG, join(frontend, "token2text"), { recursive: true });
writeFileSync(join(frontend, "index.html"), PAGE);
writeFileSync(join(frontend, "tokenizer.json"), jsonBytes(byteLevel()));

const server = new Trackio({ frontend });
before(() => server.start());
after(async () => {
  await server.dispose();
  rmSync(frontend, { recursive: true });
});

/** What the page says. @param {string} query */
function open(query) {
  return withPage({}, async (page) => {
    await page.goto(`${server.url}/?${query}`);
    const output = page.locator("output", { hasText: ":" });
    await output.waitFor();
    return output.textContent();
  });
}

test("a page beside the API enriches what is stored", async () => {
  const texts = ["Hello, wörld!", "東京 🗼"];
  const logs = texts.map((text, step) => ({
    project: "page",
    run: "r",
    run_id: "0123",
    step,
    log_id: String(step),
    metrics: { "rollout_trace/generate": { _type: "trackio.trace", messages: [], metadata: { inputs: { prompt_ids: byteIds("ask") }, output: { token_ids: byteIds(text) } } } },
  }));
  const exporter = new TrackioExporter({ url: server.url, writeToken: server.writeToken });
  assert.deepEqual(await exporter.export(jsonBytes({ hf_token: null, logs })), { status: "success" });

  assert.equal(await open(`project=page&write_token=${server.writeToken}`), "success: 2 written, 0 there");
  assert.equal(await open(`project=page&write_token=${server.writeToken}`), "success: 0 written, 2 there");
  const { traces } = (await server.ask("stored")).page.runs[0];
  const versions = traces.filter((/** @type {any} */ trace) => trace.metadata.token2text);
  assert.equal(traces.length, 4);
  assert.deepEqual(versions.map((/** @type {any} */ trace) => trace.metadata.output.response_text).sort(), texts.toSorted());
});
