/** The entries of the exporters by themselves; what they send is looked at in tests/integration. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MlflowExporter } from "../../pkg/exporters/mlflow.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));
/** Nobody listens there. */
const CLOSED = "http://127.0.0.1:9";
const EXPORTERS = {
  mlflow: { name: "MlflowExporter", options: { url: CLOSED, experimentId: "1" } },
  otlp: { name: "OtlpExporter", options: { url: CLOSED } },
  trackio: { name: "TrackioExporter", options: { url: CLOSED, project: "p", run: "r" } },
  weave: { name: "WeaveExporter", options: { url: CLOSED, project: "e/p" } },
};

const folder = mkdtempSync(join(tmpdir(), "token2text-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(PKG, join(folder, "node_modules/token2text"));
after(() => rmSync(folder, { recursive: true }));

/** What becomes of a span, in a process of its own. @param {string} entry @param {{ name: string, options: object }} exporter */
async function exported(entry, { name, options }) {
  const program = `import { ${name} } from ${JSON.stringify(entry)};
    const { status, error } = await new ${name}(${JSON.stringify(options)}).export([{ name: "generate", output: "[1]" }]);
    console.log(status, error.code);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], { cwd: folder });
  return stdout.trim();
}

for (const [file, exporter] of Object.entries(EXPORTERS)) {
  test(`${exporter.name}: in Node its entry alone writes spans; where WebAssembly has not been started, that is told`, async () => {
    assert.equal(await exported(`token2text/exporters/${file}`, exporter), "retryable unreachable");
    assert.equal(await exported(join(PKG, `exporters/${file}.js`), exporter), "failure not_initialised");
  });
}

test("MLflow's generations are a failure where its answer is of someone else", async () => {
  const exporter = new MlflowExporter({ url: CLOSED, experimentId: "1", fetch: async () => new Response('{"data":null}') });
  for (const options of [{ step: 1, runId: "r" }, { step: 1 }]) {
    const result = await exporter.logGenerations([["a", "b", 1]], options);
    assert.equal(result.status === "failure" ? result.error.code : "", "refused");
  }
  const withoutStep = await exporter.logGenerations([["a", "b", 1]], /** @type {any} */ (undefined));
  assert.equal(withoutStep.status === "failure" ? withoutStep.error.code : "", "invalid_options");
});
