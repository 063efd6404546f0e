/** Flags, variables and the file: what they mean, which one counts, and what is said of every mistake. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { parse } from "../../collector/node_modules/yaml/dist/index.js";
import { DEFAULTS } from "../../collector/src/configuration/defaults.js";
import { load } from "../../collector/src/configuration/load.js";
import { flagOf, keyOf, optionsOf, variableOf } from "../../collector/src/configuration/options.js";
import { helpText, showConfiguration } from "../../collector/src/configuration/show.js";
import { tokenizerFile, tokenizerFolder } from "./support/collector.js";

const folder = mkdtempSync(join(tmpdir(), "token2text-configuration-"));
after(() => rmSync(folder, { recursive: true }));

const GOOD = ["--tokenizer", tokenizerFolder, "--relay", "mlflow=5001,http://host:5000"];
const GOOD_FILE = `tokenizers: ${JSON.stringify(tokenizerFolder)}\nrelays: mlflow=5001,http://host:5000\n`;

/** @param {string} text @param {string} [name] */
function written(text, name = "config.yaml") {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
async function configured(args, env = {}) {
  const loaded = await load(args, env);
  assert.deepEqual(loaded.problems, []);
  return loaded.configuration;
}

/** What is said of a file that is not good, without the folder that it is in. @param {string} text @param {NodeJS.ProcessEnv} [env] */
async function saidOfFile(text, env = {}) {
  const { problems } = await load(["--config", written(text)], env);
  return problems.map((problem) => problem.replaceAll(`${folder}/`, ""));
}

describe("what is given", () => {
  test("nothing but the needed leaves the defaults", async () => {
    const { tokenizers, relays, cacheFolder, ...rest } = await configured(GOOD, { XDG_CACHE_HOME: "/caches" });
    assert.deepEqual(tokenizers, [{ pattern: "*", file: tokenizerFile }]);
    assert.deepEqual(relays, [{ backend: "mlflow", listen: { host: "127.0.0.1", port: 5001 }, upstream: new URL("http://host:5000") }]);
    if (process.platform === "linux") assert.equal(cacheFolder, "/caches/token2text");
    const { tokenizers: _, relays: __, ...defaults } = DEFAULTS;
    assert.deepEqual(rest, defaults);
  });

  /** The value of each option as text, and what it becomes. @type {Record<string, [string, (configuration: any) => unknown, unknown]>} */
  const CASES = {
    compat: ["transformers5", (c) => c.tokenizerOptions.compat, "transformers5"],
    layout: ["verl", (c) => c.enrichment.layouts, ["verl"]],
    existing: ["replace", (c) => c.enrichment.existing, "replace"],
    "skip-special-tokens": ["true", (c) => c.enrichment.skipSpecialTokens, true],
    "drop-ids": ["true", (c) => c.enrichment.ids, "drop"],
    "max-text-chars": ["2000", (c) => c.enrichment.maxTextChars, 2000],
    messages: ["false", (c) => c.enrichment.messages, false],
    relay: ["trackio=[::1]:7861,https://host/base/", (c) => c.relays, [{ backend: "trackio", listen: { host: "::1", port: 7861 }, upstream: new URL("https://host/base") }]],
    "enrich-reads": ["true", (c) => c.enrichReads, true],
    viewer: ["true", (c) => c.viewer, true],
    sample: ["12.5%", (c) => c.sample, 0.125],
    workers: ["3", (c) => c.workers, 3],
    "enrich-timeout": ["1.5s", (c) => c.limits.enrichMillis, 1500],
    "max-body": ["1MiB", (c) => c.limits.bodyBytes, 1 << 20],
    "max-held": ["1GiB", (c) => c.limits.heldBytes, 1 << 30],
    "worker-memory": ["300MB", (c) => c.limits.workerBytes, 300_000_000],
    "drain-timeout": ["2m", (c) => c.limits.drainMillis, 120_000],
    cache: ["none", (c) => c.cacheFolder, undefined],
    admin: ["9464", (c) => c.admin, { host: "127.0.0.1", port: 9464 }],
    token: ["s3cret", (c) => c.access.token, "s3cret"],
    "allow-host": ["Head.Example", (c) => c.access.hosts, ["head.example"]],
    "allow-origin": ["https://pages.example", (c) => c.access.origins, ["https://pages.example"]],
    "log-level": ["debug", (c) => c.logLevel, "debug"],
  };
  // These need a file or one another, and have tests of their own.
  const APART = ["tokenizer", "tokenizer-config", "receive", "export", "store", "store-size", "store-age", "token-file"];

  test("a store, with and without exports; its path begins where it is named", async () => {
    const { store } = await configured([...GOOD, "--receive", "4318", "--store", "/traces.db"]);
    assert.deepEqual(store, { file: "/traces.db", bytes: 8 * 2 ** 30 });
    const more = await configured(["--config", written("tokenizers: TOKENIZER\nreceive: 4318\nstore: traces.db\nstore-size: 500MB\nstore-age: 1.5d\nexports: otlp=http://host\n".replace("TOKENIZER", tokenizerFile))]);
    assert.deepEqual(more.store, { file: join(folder, "traces.db"), bytes: 500_000_000, ageMillis: 129_600_000 });
  });

  test("every option is in the cases", () => {
    assert.deepEqual([...Object.keys(CASES), ...APART].sort(), optionsOf({}).map(({ name }) => name).sort());
  });

  for (const option of optionsOf({})) {
    const found = CASES[option.name];
    if (found === undefined) continue;
    const [text, of, expected] = found;
    test(`${option.name} as a flag, a variable and in a file`, async () => {
      const isSwitch = option.kind.placeholder === "";
      const flag = isSwitch ? [text === "true" ? flagOf(option) : `--no-${option.name}`] : [`${flagOf(option)}=${text}`];
      const more = option.name === "relay" ? GOOD.slice(0, 2) : GOOD;
      assert.deepEqual(of(await configured([...more, ...flag])), expected);
      assert.deepEqual(of(await configured(more, { [variableOf(option)]: text })), expected);
      const file = written(`${keyOf(option)}: ${JSON.stringify(text)}\n`);
      assert.deepEqual(of(await configured([...more, "--config", file])), expected);
    });
  }

  test("a flag comes before a variable, this before the file, this before the default; lists too", async () => {
    const file = written(`${GOOD_FILE}workers: 5\nallow-hosts: [in-file]\nenrich-reads: true\n`);
    const env = { TOKEN2TEXT_CONFIG: file };
    const of = async (/** @type {string[]} */ args, /** @type {object} */ more = {}) => {
      const { workers, access, enrichReads } = await configured(args, { ...env, ...more });
      return [workers, access.hosts, enrichReads];
    };
    assert.deepEqual(await of([]), [5, ["in-file"], true]);
    const variables = { TOKEN2TEXT_WORKERS: "6", TOKEN2TEXT_ALLOW_HOST: "a; b", TOKEN2TEXT_ENRICH_READS: "no" };
    assert.deepEqual(await of([], variables), [6, ["a", "b"], false]);
    assert.deepEqual(await of(["--workers", "7", "--allow-host", "c", "--enrich-reads"], variables), [7, ["c"], true]);
    assert.deepEqual(await of(["--no-enrich-reads"]), [5, ["in-file"], false]);
    assert.deepEqual(await of([], { TOKEN2TEXT_WORKERS: "" }), [5, ["in-file"], true], "an empty variable is none");
    const other = written(`${GOOD_FILE}workers: 8\n`, "other.yaml");
    assert.deepEqual((await of(["--config", other]))[0], 8);
  });

  test("a file of JSON, indented by tabs", async () => {
    const text = JSON.stringify({ tokenizers: { "Qwen/*": tokenizerFolder }, relays: [{ backend: "otlp", listen: 4318, upstream: "http://host:4318" }], sample: 0.5 }, null, "\t");
    const { tokenizers, relays, sample } = await configured(["--config", written(text, "config.json")]);
    assert.deepEqual(tokenizers, [{ pattern: "Qwen/*", file: tokenizerFile }]);
    assert.deepEqual(relays[0].listen, { host: "127.0.0.1", port: 4318 });
    assert.equal(sample, 0.5);
  });

  test("tokenizers: patterns keep their order, the one for all models comes last, paths begin at the file", async () => {
    writeFileSync(join(folder, "a=b.json"), "{}");
    writeFileSync(join(folder, "c.json"), "{}");
    const inFile = "tokenizers:\n  - c.json\n  - Qwen/*=c.json\n  - { pattern: 'x/*', file: a=b.json }\nrelays: otlp=0,http://host\n";
    const names = [["Qwen/*", "c.json"], ["x/*", "a=b.json"], ["*", "c.json"]];
    const expected = names.map(([pattern, name]) => ({ pattern, file: join(folder, name) }));
    assert.deepEqual((await configured(["--config", written(inFile)])).tokenizers, expected);
    const asMap = "tokenizers:\n  '*': c.json\n  Qwen/*: c.json\n  x/*: a=b.json\nrelays: otlp=0,http://host\n";
    assert.deepEqual((await configured(["--config", written(asMap)])).tokenizers, expected);
    const [wrong] = await saidOfFile(asMap.replace("a=b.json", "{ file: c.json }"));
    assert.equal(wrong, 'config.yaml:4:3: tokenizers.x/*: `{"file":"c.json"}` is not usable here; write the path of a tokenizer.json');
    const flags = ["-t", join(folder, "a=b.json"), "--relay", "otlp=0,http://host"];
    assert.deepEqual((await configured(flags)).tokenizers, [{ pattern: "*", file: join(folder, "a=b.json") }]);
  });

  test("tokenizer-config goes with compat", async () => {
    const config = written("{}", "tokenizer_config.json");
    const { tokenizerOptions } = await configured([...GOOD, "--tokenizer-config", config, "--compat", "transformers4"]);
    assert.deepEqual(tokenizerOptions, { config, compat: "transformers4" });
  });

  test("layouts: names, files, and objects in the file of configuration", async () => {
    const select = { mask: "/output/mask", value: 1 };
    const mine = { name: "mine", when: ["/output/x"], fields: [{ kind: "response", ids: ["/output/x"], text: "/output/y", select }] };
    const path = written(JSON.stringify([mine]), "mine.json");
    assert.deepEqual((await configured([...GOOD, "--layout", path, "--layout", "auto"])).enrichment.layouts, [mine, "auto"]);
    const { enrichment } = await configured(["--config", written(`${GOOD_FILE}layouts:\n  - ${JSON.stringify(mine)}\n  - verl\n`)]);
    assert.deepEqual(enrichment.layouts, [mine, "verl"]);
  });

  test("exports with their options, and secrets out of variables and files", async () => {
    const secret = written("from-a-file\n", "secret");
    const args = [
      ...GOOD.slice(0, 2),
      ...["--receive", "0.0.0.0:4318", "--token", "x"],
      ...["--export", "mlflow=http://host:5000/base,experiment=a, b,token-env=MY_TOKEN,header.X-Team=rl"],
      ...["--export", `trackio=http://host:7860?write_token=t,project=p,run=r,hf-token-file=${secret}`],
      ...["--export", "otlp=http://other:4318,gzip=true,header-env.X-Key=MY_TOKEN"],
      ...["--export", "weave=https://trace.wandb.ai,project=team/p,token=k"],
    ];
    const { exports, receive, access } = await configured(args, { MY_TOKEN: "from-a-variable" });
    assert.deepEqual(receive, { host: "0.0.0.0", port: 4318 });
    assert.deepEqual(exports, [
      { backend: "mlflow", url: "http://host:5000/base", options: { experiment: "a, b", token: "from-a-variable", headers: { "X-Team": "rl" } } },
      { backend: "trackio", url: "http://host:7860?write_token=t", options: { project: "p", run: "r", hfToken: "from-a-file" } },
      { backend: "otlp", url: "http://other:4318", options: { gzip: true, headers: { "X-Key": "from-a-variable" } } },
      { backend: "weave", url: "https://trace.wandb.ai", options: { project: "team/p", token: "k" } },
    ]);
    assert.deepEqual(access.hosts, [hostname().toLowerCase()], "on every interface, the machine's own name is good");
    const inFile = `tokenizers: ${tokenizerFolder}\nreceive: 4318\ntoken-file: secret\nexports:\n  - backend: mlflow\n    url: http://host:5000\n    experiment: e\n    token-file: secret\n`;
    const fromFile = await configured(["--config", written(inFile)]);
    assert.deepEqual(fromFile.exports, [{ backend: "mlflow", url: "http://host:5000", options: { experiment: "e", token: "from-a-file" } }]);
    assert.equal(fromFile.access.token, "from-a-file");
    const numbers = `tokenizers: ${tokenizerFolder}\nreceive: 4318\ntoken: 0123\nexports: { backend: mlflow, url: "http://h", experiment: 1e3 }\n`;
    const spelled = await configured(["--config", written(numbers)]);
    assert.deepEqual([spelled.access.token, spelled.exports[0].options.experiment], ["0123", "1e3"], "numbers as they are spelled");
  });
});

describe("what is said of a mistake", () => {
  /** Arguments after good ones, and everything that is said. @type {Record<string, [string[], ...string[]]>} */
  const FLAGS = {
    "an unknown option": [["--wrkers", "2"], "--wrkers: there is no such option; did you mean `--workers`?"],
    "one that is like none": [["--zzzz"], "--zzzz: there is no such option"],
    "a value in the wrong place": [["extra"], "extra: what is this for? Every value follows its option, as in --relay mlflow=5001,http://host:5000"],
    "a value that is missing": [["--sample"], "--sample: its value is missing"],
    "an option in the place of a value": [["--sample", "--drop-ids"], "--sample: its value is missing"],
    "a value for a switch": [["--drop-ids=no"], "--drop-ids: it takes no value; write --drop-ids or --no-drop-ids"],
    "no- before what is no switch": [["--no-workers"], "--no-workers: there is no such option; did you mean `--workers`?"],
    "the same twice": [["--workers", "1", "--workers", "2"], "--workers: it is given twice; leave one of them out"],
    "a share": [["--sample", "0"], "--sample: `0` is not usable here; write a share above 0 and up to 1, such as 0.1 or 10%"],
    "a share beyond all": [["--sample", "101%"], "--sample: `101%` is not usable here; write a share above 0 and up to 1, such as 0.1 or 10%"],
    "a number": [["--workers", "many"], "--workers: `many` is not usable here; write a whole number from 1 to 256"],
    "a time without its unit": [["--enrich-timeout", "10"], "--enrich-timeout: `10` is not usable here; write a time with its unit, such as 10s, 500ms or 2m"],
    "a size": [["--max-body", "64 apples"], "--max-body: `64 apples` is not usable here; write a size such as 64MiB, 1GiB or 1000000"],
    "a word": [["--existing", "replce"], "--existing: `replce` is none of keep, replace; did you mean `replace`?"],
    "an address without a host": [["--admin", ":9000"], "--admin: `:9000` names no host; write 9000 for this machine only, or 0.0.0.0:9000 for every network"],
    "an address": [["--admin", "http://x:1"], "--admin: `http://x:1` is no address to listen on; write HOST:PORT, such as 127.0.0.1:4318, or a port alone for this machine only"],
    "a port": [["--admin", "65536"], "--admin: `65536` is no address to listen on; write HOST:PORT, such as 127.0.0.1:4318, or a port alone for this machine only"],
    "a host with a port": [["--allow-host", "a:80"], "--allow-host: `a:80` is not usable here; write a name or an IP address, without http:// and without a port"],
    "an origin with a path": [["--allow-origin", "https://a/b"], "--allow-origin: `https://a/b` is not usable here; write an origin such as https://traces.example.org, or * for all"],
    "a token with a blank": [["--token", "a b"], "--token: it is no token: visible characters, without blanks"],
    "half a relay": [["--relay", "mlflow=5002"], "--relay: `mlflow=5002` is not complete; write BACKEND=LISTEN,URL, such as mlflow=127.0.0.1:5001,http://host:5000"],
    "all of a relay": [
      ["--relay", "mlfow=:1,ftp://host"],
      "--relay: there is no backend `mlfow`; they are mlflow, trackio, weave, otlp; did you mean `mlflow`?",
      "--relay: `:1` names no host; write 1 for this machine only, or 0.0.0.0:1 for every network",
      "--relay: `ftp://host` is no address of HTTP; write it with http:// or https://, such as http://host:5000",
    ],
    "a login in a relay": [["--relay", "mlflow=1,http://me:pw@host"], "--relay: the URL of a relay holds no name and password; those that the client sends pass through"],
    "a query in a relay": [["--relay", "trackio=1,http://host/?a=b"], "--relay: `?a=b` cannot stand in the URL of a relay; write it without"],
    "a relay to itself": [["--relay", "otlp=4318,http://localhost:5001"], "--relay: http://localhost:5001 is this collector itself; write the address of the backend"],
    "a port that is taken": [["--admin", "0.0.0.0:5001"], "--admin: 0.0.0.0:5001 is taken by another listener; choose another port"],
    "an export that is not complete": [["--receive", "1", "--export", "mlflow"], "--export: `mlflow` is not complete; write BACKEND=URL, such as mlflow=http://host:5000,experiment=rollouts"],
    "an export's option": [
      ["--receive", "1", "--export", "otlp=http://h,tokn=1"],
      "--export: an export to otlp has no `tokn`; it has token, token-env, token-file, encoding, gzip, header.NAME, header-env.NAME; did you mean `token`?",
    ],
    "an export without what it needs": [["--receive", "1", "--export", "trackio=http://h:7860"], "--export: an export to trackio needs `project`; write trackio=http://h:7860,project=..."],
    "a variable that is not set": [["--receive", "1", "--export", "otlp=http://h,token-env=NOT_SET"], "--export: the variable NOT_SET is not set; set it, or name another"],
    "a secret twice": [["--receive", "1", "--export", "mlflow=http://h,token=a,token-file=package.json"], "--export: `token-file` says again what another name says; leave one of them out"],
    "an export to itself": [["--receive", "4318", "--export", "otlp=http://127.0.0.1:4318"], "--export: http://127.0.0.1:4318 is this collector itself; write the address of the backend"],
    "receiving for nobody": [["--receive", "4318"], "--export: nothing takes what is received; write --export mlflow=http://host:5000,experiment=NAME, or another backend, or --store FILE"],
    "a store for nothing": [["--store", "traces.db"], "--store: nothing is received; write --receive 4318 too"],
    "a store in no folder": [["--receive", "4318", "--store", "/nowhere/traces.db"], "--store: there is no folder /nowhere; make it, or name another file"],
    "a store that is a folder": [["--receive", "4318", "--store", "/"], "--store: / is a folder; write the path of a file"],
    "bounds of no store": [["--store-size", "1GiB", "--store-age", "7d"], "--store-size: there is no store; write --store FILE too", "--store-age: there is no store; write --store FILE too"],
    "an age without a unit": [["--receive", "4318", "--store", "traces.db", "--store-age", "7"], "--store-age: `7` is not usable here; write a time with its unit, such as 12h or 7d"],
    "exports to one place, with a store": [
      ["--receive", "4318", "--store", "traces.db", "--export", "mlflow=http://h,experiment=a", "--export", "mlflow=http://h/,experiment=a,token=b"],
      "--export: two exports go to the same place; with --store each needs one of its own",
    ],
    "exporting nothing": [["--export", "otlp=http://h"], "--export: nothing is received; write --receive 4318 too"],
    "tokenizers for the same": [["-t", tokenizerFile], "--tokenizer: several tokenizers for all models; tell them apart by a pattern on the model's name: 'Qwen/*=FILE'"],
    "a pattern twice": [["-t", `a=${tokenizerFile}`, "-t", `a=${tokenizerFile}`], "--tokenizer: the pattern a is given twice; leave one of them out"],
    "a tokenizer that is not there": [["-t", "x=/nowhere.json"], "--tokenizer: cannot read /nowhere.json: there is no such file"],
    "a tokenizer of the web": [["-t", "x=https://host/t.json"], "--tokenizer: https://host/t.json is an address; download the tokenizer.json and write its path"],
    "a folder without a tokenizer": [["-t", "x=/"], "--tokenizer: there is no tokenizer.json in the folder /"],
    "a configuration of a tokenizer alone": [["--tokenizer-config", tokenizerFile], "--tokenizer-config: it is read for transformers only; write --compat transformers4 or --compat transformers5 too"],
    "bodies beyond what is held": [["--max-held", "1MiB"], "--max-held: it is less than one body of --max-body; write more, or less there"],
    "a cache that is a file": [["--cache", tokenizerFile], `--cache: ${tokenizerFile} is no folder; write the path of one, or none`],
    "no such file of configuration": [["--config", "/nowhere.yaml"], "--config: cannot read /nowhere.yaml: there is no such file"],
    "two tokens": [["--token", "a", "--token-file", tokenizerFile], `--token-file: the file ${tokenizerFile} holds no token: one line of visible characters, without blanks`, "--token: there is a token and a file with one; leave one of them out"],
  };
  for (const [name, [args, ...expected]] of Object.entries(FLAGS)) {
    test(`${name}: ${args.join(" ")}`.replaceAll(tokenizerFile, "tokenizer.json"), async () => {
      const { problems } = await load([...GOOD, ...args], {});
      assert.deepEqual(problems, expected);
    });
  }

  test("a layout that is none, in the words of token2text", async () => {
    const { problems } = await load([...GOOD, "--layout", "verll"], {});
    assert.equal(problems.length, 1);
    assert.match(problems[0], /^--layout: .*`verll` is no built-in layout \(known: .*\bverl\b/);
  });

  test("nothing at all", async () => {
    assert.deepEqual((await load([], {})).problems, [
      "--tokenizer: there is none; write --tokenizer tokenizer.json, or --tokenizer 'Qwen/*=FILE' for some models only",
      "--relay: there is nothing to listen to; write --relay mlflow=5001,http://host:5000, or --receive 4318 with --export mlflow=http://host:5000",
    ]);
  });

  test("of variables", async () => {
    const { problems, warnings } = await load(GOOD, { TOKEN2TEXT_WORKERS: "0", TOKEN2TEXT_ADMIN: "x", TOKEN2TEXT_SAMPEL: "1", TOKEN2TEXT_SERVICE_HOST: "10.0.0.1", TOKEN2TEXT_PORT_80_TCP: "x" });
    assert.deepEqual(problems, [
      "TOKEN2TEXT_WORKERS: `0` is not usable here; write a whole number from 1 to 256",
      "TOKEN2TEXT_ADMIN: `x` is no address to listen on; write HOST:PORT, such as 127.0.0.1:4318, or a port alone for this machine only",
    ]);
    assert.deepEqual(warnings, ["TOKEN2TEXT_SAMPEL: there is no such option, it is ignored; did you mean `TOKEN2TEXT_SAMPLE`?"]);
  });

  test("of a file: line, column and place, all at once", async () => {
    const text = `tokenizers:
  Qwen/*: nowhere.json
relays:
  - backend: mlflow
    listen: 127.0.0.1:5001
    upstream: htp://host:5000
  - weave=5002,https://trace.wandb.ai
  - { backend: otlp, listen: ":5003", upstreem: "http://x" }
wokers: 4
sample: 2
token:
log-level: [info]
`;
    assert.deepEqual(await saidOfFile(text), [
      "config.yaml:9:1: wokers: there is no such option; did you mean `workers`?",
      "config.yaml:2:11: tokenizers.Qwen/*: cannot read nowhere.json: there is no such file",
      "config.yaml:6:15: relays[0].upstream: `htp://host:5000` is no address of HTTP; write it with http:// or https://, such as http://host:5000",
      "config.yaml:8:39: relays[2].upstreem: there is no key `upstreem`; they are backend, listen, upstream; did you mean `upstream`?",
      "config.yaml:8:30: relays[2].listen: `:5003` names no host; write 5003 for this machine only, or 0.0.0.0:5003 for every network",
      "config.yaml:8:5: relays[2].upstream: nothing is given; write the address of the backend, such as http://host:5000",
      "config.yaml:10:9: sample: `2` is not usable here; write a share above 0 and up to 1, such as 0.1 or 10%",
      "config.yaml:11:1: token: nothing is given; write a token of visible characters, without blanks",
      'config.yaml:12:1: log-level: `["info"]` is not usable here; write trace, debug, info, warn, error or silent',
    ]);
  });

  test("of a file that is no YAML, or no options", async () => {
    const [first, ...more] = await saidOfFile("workers: 2\nrelays: [a\n");
    assert.match(first, /^config\.yaml:3:1: /);
    assert.deepEqual(more.filter((line) => line.startsWith("config")), []);
    assert.match((await saidOfFile("a: 1\na: 2\n"))[0], /^config\.yaml:2:1: /, "a key twice");
    assert.equal((await saidOfFile("- workers: 2\n"))[0], "config.yaml:1:1: options are missing; write one a line, such as `workers: 2`");
    assert.equal((await saidOfFile("exports: [{ backend: otlp, url: http://h, tokne: x }]\n"))[0], "config.yaml:1:43: exports[0].tokne: an export to otlp has no `tokne`; it has token, token-env, token-file, encoding, gzip, header.NAME, header-env.NAME; did you mean `token`?");
    const bomb = ["a: &a [x, x, x, x, x, x, x, x, x]", ...[..."bcdefg"].map((name, i) => `${name}: &${name} [${Array(9).fill(`*${"abcdef"[i]}`)}]`)].join("\n");
    assert.match((await saidOfFile(bomb))[0], /^config\.yaml:1:1: .*alias/i);
  });

  test("whatever a file has for an option, it is told with its place, or taken", async () => {
    const odd = [null, 1.5, -1, 1e300, true, "", " ", "=", ",", "a=b,c", "mlflow=1,http://h,", "\u0000", "x".repeat(5000), [], [[]], [null], {}, { a: 1 }, { file: [] }, { backend: {} }, { backend: "otlp", url: "http://h", token: {} }];
    for (const option of optionsOf({})) {
      for (const value of odd) {
        const rest = option.name === "tokenizer" ? "relays: otlp=0,http://h\n" : option.name === "relay" ? `tokenizers: ${tokenizerFile}\n` : GOOD_FILE;
        for (const problem of await saidOfFile(`${rest}${keyOf(option)}: ${JSON.stringify(value)}\n`)) {
          // Two are about what other options are.
          assert.match(problem, /^config\.yaml:\d+:\d+: |^--(relay|export|tokenizer): |^config\.yaml:\d+:\d+$/, `${option.name}: ${JSON.stringify(value)}`);
          assert.ok(problem.length < 1000, "a long value is cut");
        }
      }
    }
  });

  test("a secret is in no message", async () => {
    const secrets = ["--token=hunter 2", "--export=otlp=ftp://me:hunter2@host", "--export=trackio=ftp://host?write_token=hunter2,project=p", "--relay=mlflow=1,http://me:hunter2@host"];
    const { problems } = await load([...GOOD, "--receive", "1", ...secrets], {});
    assert.equal(problems.length, 4, problems.join("\n"));
    assert.doesNotMatch(problems.join(), /hunter/);
  });
});

describe("what is shown", () => {
  test("--check prints a file that gives the same configuration, with places and without secrets", async () => {
    const args = [...GOOD, "--receive", "[::1]:4318", "--export", "mlflow=http://me:hunter2@host:5000,experiment=e,header.X-Key=hunter3", "--sample", "10%", "--drop-ids", "--max-body", "1000", "--cache", "none", "--token", "hunter4"];
    const loaded = await load(args, { TOKEN2TEXT_WORKERS: "2" });
    const text = showConfiguration(loaded);
    assert.doesNotMatch(text, /hunter/);
    assert.match(text, /^sample: 0\.1 # --sample$/m);
    assert.match(text, /^workers: 2 # TOKEN2TEXT_WORKERS$/m);
    assert.match(text, /^enrich-timeout: 10s # default$/m);
    const { exports: given, token, ...values } = parse(text);
    assert.deepEqual(given, [{ backend: "mlflow", url: "http://me:hidden@host:5000", experiment: "e", "header.X-Key": "(hidden)" }]);
    assert.equal(token, "(hidden)");
    const again = { ...values, token: "hunter4", exports: args.filter((arg) => arg.startsWith("mlflow=http://me")) };
    assert.deepEqual(await configured(["--config", written(JSON.stringify(again))]), loaded.configuration);
  });

  test("--help names every option, in lines that fit", () => {
    const text = helpText(optionsOf({}));
    for (const option of optionsOf({})) assert.ok(text.includes(`${flagOf(option)}`), option.name);
    for (const line of text.split("\n")) assert.ok(line.length <= 120, line);
    for (const name of ["MLFLOW_TRACKING_URI", "TRACKIO_SERVER_URL", "WF_TRACE_SERVER_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"]) assert.ok(text.includes(name), name);
  });

  test("listening for others without a token is warned of", async () => {
    const args = [...GOOD, "--receive", "0.0.0.0:4318", "--export", "otlp=http://h", "--admin", "9000"];
    assert.deepEqual((await load(args, {})).warnings, ["--receive: whoever reaches 0.0.0.0:4318 may use it; set TOKEN2TEXT_TOKEN or --token-file"]);
    assert.deepEqual((await load(args, { TOKEN2TEXT_TOKEN: "t" })).warnings, []);
  });

  test("tokenizers that take no span without a model are warned of", async () => {
    const relay = ["--relay", "mlflow=5001,http://host:5000"];
    const named = ["--tokenizer", `Qwen/*=${tokenizerFolder}`];
    const { warnings } = await load([...named, ...relay], {});
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /^--tokenizer: spans that name no model, .* add a tokenizer without a pattern: --tokenizer FILE$/);
    assert.deepEqual((await load([...named, "--tokenizer", tokenizerFolder, ...relay], {})).warnings, []);
  });
});
