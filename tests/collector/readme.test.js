/** What the README and the files of deploy/ say is so. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runCommand } from "../../collector/src/commands/command.js";
import { COMMANDS } from "../../collector/src/commands/commands.js";
import { load } from "../../collector/src/configuration/load.js";
import { ACTIONS, flagOf, optionsOf, variableOf } from "../../collector/src/configuration/options.js";
import { tokenizerFile } from "./support/collector.js";
import { ROOT, run } from "./support/installed.js";

const of = (/** @type {string} */ path) => readFileSync(join(ROOT, path), "utf8");
const readme = of("collector/README.md");

test("the tables of options, exports and metrics are those of the code", () => {
  run("node", ["scripts/collector-reference.js", "--check"], ROOT);
});

test("every flag and variable that is named is there", () => {
  const switches = optionsOf({}).filter(({ kind }) => kind.placeholder === "");
  const flags = [...[...optionsOf({}), ...ACTIONS].map(flagOf), ...switches.map(({ name }) => `--no-${name}`)];
  const variables = [...optionsOf({}).map(variableOf), "TOKEN2TEXT_CONFIG"];
  // Of other programs: MLflow's server, npm, podman, and token2text itself.
  const ofCommands = COMMANDS.flatMap(({ options }) => Object.keys(options).map((name) => `--${name}`));
  const others = [...ofCommands, "--backend-store-uri", "--port", "--global", "--omit", "--force", "--help", "--read-only", "--tmpfs", "--start-period"];
  for (const path of ["collector/README.md", "collector/deploy/token2text-collector.service", "collector/deploy/Containerfile", "README.md"]) {
    const text = path === "README.md" ? of(path).match(/### Between the trainer and its backend[^]*?\n##/)?.[0] ?? assert.fail("README.md has no section") : of(path);
    const named = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag).filter((flag) => !others.includes(flag));
    for (const flag of named) assert.ok(flags.includes(flag), `${path}: ${flag}`);
    for (const [variable] of text.matchAll(/\bTOKEN2TEXT_[A-Z_]+/g)) assert.ok(variables.includes(variable), `${path}: ${variable}`);
  }
});

test("the file of configuration in it is good", async () => {
  const [, yaml] = /```yaml\n([^]*?)```/.exec(readme) ?? [];
  const folder = mkdtempSync(join(tmpdir(), "token2text-readme-"));
  try {
    for (const name of ["Qwen3-8B", "other"]) {
      mkdirSync(join(folder, name));
      cpSync(tokenizerFile, join(folder, name, "tokenizer.json"));
    }
    writeFileSync(join(folder, "collector.yaml"), yaml);
    const { problems, configuration } = await load(["--config", join(folder, "collector.yaml")], { MLFLOW_PROXY_TOKEN: "t" });
    assert.deepEqual(problems, []);
    assert.deepEqual(configuration.tokenizers.map(({ pattern }) => pattern), ["Qwen/*", "*"]);
    assert.deepEqual([configuration.relays.length, configuration.sample, configuration.exports[0].options.token], [2, 0.1, "t"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("its commands are good", async () => {
  const folder = mkdtempSync(join(tmpdir(), "token2text-readme-"));
  try {
    mkdirSync(join(folder, "Qwen3-8B"));
    cpSync(tokenizerFile, join(folder, "Qwen3-8B/tokenizer.json"));
    const all = [...readme.matchAll(/^npx token2text-collector (.*?)( &| +#.*)?$/gm)].map(([, args]) => args.replace("Qwen3-8B", join(folder, "Qwen3-8B")));
    const isServing = (/** @type {string} */ args) => args.startsWith("-");
    const fenced = all.filter(isServing);
    const inText = [...readme.matchAll(/`(--(?:relay|export) [a-z][^`]*)`/g)].map(([, args]) => args);
    assert.ok(fenced.length >= 3 && inText.length >= 5, `${fenced.length} ${inText.length}`);
    for (const args of fenced) assert.deepEqual((await load(args.split(" "), {})).problems, [], args);
    const others = all.filter((args) => !isServing(args)).map((args) => args.split(" "));
    assert.deepEqual(others.map(([name]) => name), COMMANDS.map(({ name }) => name));
    for (const [index, [, file, ...more]] of others.entries()) {
      assert.match(runCommand(COMMANDS[index], [join(folder, file), ...more]).text, /there is no such file/);
    }
    for (const args of inText) {
      const more = args.startsWith("--export") ? ["--receive", "1"] : [];
      assert.deepEqual((await load(["-t", folder + "/Qwen3-8B", ...more, ...args.split(" ")], { MY_KEY: "k" })).problems, [], args);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
