/** The recipe for Trackio in the package's README, run as printed, but for the port. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readCommands, readSections } from "../packaging/support/readme.js";
import { byteIds, byteLevel, jsonBytes } from "../js/support/tokenizers.js";
import { Trackio } from "./support/trackio.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));
const PRINTED_URL = "http://127.0.0.1:7860";
const server = new Trackio();
const folder = mkdtempSync(join(tmpdir(), "token2text-recipe-"));
before(() => server.start());
after(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

test("the recipe does what it says", async () => {
  const entry = (/** @type {string} */ logId, /** @type {object} */ output) => ({
    project: "my-project",
    run: "r",
    run_id: "0123",
    step: 1,
    log_id: logId,
    metrics: { "rollout_trace/generate": { _type: "trackio.trace", messages: [], metadata: { output }, spans: [] } },
  });
  await server.ask("post", { hf_token: null, logs: [entry("stored", { token_ids: byteIds("stored as ids") })] });
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(PKG, join(folder, "node_modules/token2text"));
  symlinkSync("../token2text/bin/token2text.js", join(folder, "node_modules/.bin/token2text"));
  cpSync(new URL("../../package.json", import.meta.url), join(folder, "package.json"));
  writeFileSync(join(folder, "tokenizer.json"), jsonBytes(byteLevel()));
  writeFileSync(join(folder, "bulk-log.json"), jsonBytes({ hf_token: null, logs: [entry("sent", { token_ids: byteIds("on its way") })] }));

  const section = readSections(readFileSync(join(PKG, "README.md"), "utf8")).find(({ title }) => title === "Trackio");
  assert.ok(section);
  let commands = 0;
  for (const { language, file, text } of section.blocks) {
    const here = text.replaceAll(PRINTED_URL, server.url);
    if (file) writeFileSync(join(folder, file), here);
    if (language !== "sh") continue;
    for (const { command, output } of readCommands(here)) {
      const { stdout } = await promisify(execFile)("bash", ["-euc", command], { cwd: folder, env: { ...process.env, TRACKIO_WRITE_TOKEN: server.writeToken } });
      if (output !== undefined) assert.equal(stdout.trimEnd(), output.trimEnd(), command);
      commands++;
    }
  }
  assert.equal(commands, 2);

  const { traces } = (await server.ask("stored"))["my-project"].runs[0];
  const texts = traces.map((/** @type {any} */ { metadata }) => [metadata.output.response_text, metadata.token2text?.source]);
  assert.deepEqual(texts, [
    [undefined, undefined],
    ["on its way", undefined],
    ["stored as ids", "0123:stored:rollout_trace/generate"],
  ]);
});
