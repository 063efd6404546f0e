import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, lstatSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { CLI, token2text } from "./support/cli.js";
import { OPEN, byteIds, byteLevel, chatMl, jsonBytes } from "./support/tokenizers.js";

const root = mkdtempSync(join(tmpdir(), "token2text-"));
let folder = "";
let serial = 0;
beforeEach(() => {
  folder = join(root, String(serial++));
  mkdirSync(folder);
  write("tokenizer.json", jsonBytes(byteLevel()));
});
after(() => rmSync(root, { recursive: true }));

/** @param {string} name @param {string | Uint8Array} content */
function write(name, content) {
  writeFileSync(join(folder, name), content);
  return name;
}
/** @param {string} name */
const read = (name) => readFileSync(join(folder, name));
/** @param {string[]} args @param {string | Uint8Array} [input] */
const run = (args, input) => token2text(args, { input, cwd: folder });
/** @param {string[]} args @param {string | Uint8Array} [input] */
const enrich = (args, input) => run(["enrich", "-t", "tokenizer.json", ...args], input);

const line = (/** @type {string} */ text) => JSON.stringify({ output: { response_ids: byteIds(text) } });
const texted = (/** @type {string} */ text) => line(text).replace('{"response_ids"', `{"response_text":${JSON.stringify(text)},"response_ids"`);

test("standard input to standard output, with a summary on the standard error", async () => {
  const { status, stdout, stderr } = await enrich([], `${line("Hi")}\n${line("you")}\n`);
  assert.equal(status, 0);
  assert.equal(stdout.toString(), `${texted("Hi")}\n${texted("you")}\n`);
  assert.match(stderr, /^2 records: 2 texts written; 5 token ids\n$/);
});

test("a file to a file, and `-` is the standard input", async () => {
  write("in.jsonl", line("Hi"));
  assert.equal((await enrich(["in.jsonl", "-o", "out.jsonl"])).status, 0);
  assert.equal(read("out.jsonl").toString(), texted("Hi"));
  assert.equal((await enrich(["-"], line("Hi"))).stdout.toString(), texted("Hi"));
});

test("line ends, blank lines and a missing last newline stay", async () => {
  const lines = ["", "\r\n", "  \n", line("a"), "\r\n", line("b"), "\n", "\n\n", '{"x": 1.0}', "\n", '  {"n": NaN}  ', "\r\n", line("c")];
  const { stdout, status } = await enrich([], lines.join(""));
  assert.equal(status, 0);
  const expected = lines.map((part) => (["a", "b", "c"].map(line).includes(part) ? texted(JSON.parse(part).output.response_ids.map((/** @type {number} */ id) => String.fromCharCode(id)).join("")) : part));
  assert.equal(stdout.toString(), expected.join(""));
});

test("strip gives the bytes of before", async () => {
  const before = `${line("Hi")}\r\n\n${line("é")}\n{"other": true}`;
  const { stdout } = await enrich([], before);
  assert.notEqual(stdout.toString(), before);
  const stripped = await run(["strip"], stdout);
  assert.equal(stripped.status, 0);
  assert.equal(stripped.stdout.toString(), before);
  assert.equal(stripped.stderr, "");
});

test("a document over several lines is one body", async () => {
  const document = JSON.stringify([JSON.parse(line("Hi")), JSON.parse(line("you"))], null, 2);
  const { stdout, status } = await enrich([], `${document}\n`);
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(stdout.toString()).map((/** @type {any} */ record) => record.output.response_text), ["Hi", "you"]);
  assert.equal((await run(["strip"], stdout)).stdout.toString(), `${document}\n`);
});

test("broken lines are copied and told, the others decoded", async () => {
  const { stdout, stderr, status } = await enrich([], `${line("a")}\nnot JSON\n${line("b")}\n{"cut": [1, 2`);
  assert.equal(status, 0);
  assert.equal(stdout.toString(), `${texted("a")}\nnot JSON\n${texted("b")}\n{"cut": [1, 2`);
  assert.match(stderr, /copied unchanged, \w+: .*stdin:2: /);
});

test("a broken first line does not make it a document", async () => {
  const { stdout, status } = await enrich([], `not JSON\n${line("b")}\n`);
  assert.equal(status, 0);
  assert.equal(stdout.toString(), `not JSON\n${texted("b")}\n`);
});

test("what is no JSON at all is unreadable input, and no output appears", async () => {
  write("out.jsonl", "precious");
  const { stderr, status } = await enrich(["-o", "out.jsonl"], "hello\nworld\n");
  assert.equal(status, 2);
  assert.match(stderr, /the standard input: unknown_format/);
  assert.equal(read("out.jsonl").toString(), "precious");
  assert.deepEqual(readdirSync(folder).sort(), ["out.jsonl", "tokenizer.json"]);
});

test("--strict makes skipped ids and broken lines an exit status", async () => {
  assert.equal((await enrich(["--strict"], line("a"))).status, 0);
  assert.equal((await enrich(["--strict"], `${line("a")}\nbroken`)).status, 1);
  const skipped = '{"output": {"response_ids": [1, -1]}}';
  const { status, stderr, stdout } = await enrich(["--strict"], skipped);
  assert.equal(status, 1);
  assert.match(stderr, /skipped, \w+: stdin:1 \/output\/response_ids: ./);
  assert.equal(stdout.toString(), skipped);
  assert.equal((await enrich([], skipped)).status, 0);
});

test("--report json gives a line per record, none nothing", async () => {
  const { stderr } = await enrich(["--report", "json"], `${line("Hi")}\nbroken\n`);
  const [first, second] = stderr.trim().split("\n").map((text) => JSON.parse(text));
  assert.deepEqual([first.file, first.line, first.fields[0].status], ["-", 1, "decoded"]);
  assert.deepEqual([second.line, second.error.code], [2, "unknown_format"]);
  assert.equal((await enrich(["--report", "none"], line("Hi"))).stderr, "");
});

test("gzip in by its first bytes, gzip out by its name", async () => {
  write("in.bin", gzipSync(`${line("Hi")}\n`));
  assert.equal((await enrich(["in.bin", "-o", "out.jsonl.gz"])).status, 0);
  assert.equal(gunzipSync(read("out.jsonl.gz")).toString(), `${texted("Hi")}\n`);
  assert.equal((await enrich([], gzipSync(line("Hi")))).stdout.toString(), texted("Hi"));
  const twoMembers = Buffer.concat([gzipSync(`${line("a")}\n`), gzipSync(line("b"))]);
  assert.equal((await enrich([], twoMembers)).stdout.toString(), `${texted("a")}\n${texted("b")}`);
});

test("a cut gzip file is unreadable input and leaves nothing behind", async () => {
  const { status, stderr } = await enrich(["-o", "out.jsonl"], gzipSync(line("Hi").repeat(1000)).subarray(0, -9));
  assert.equal(status, 2);
  assert.match(stderr, /damaged or incomplete gzip/);
  assert.deepEqual(readdirSync(folder), ["tokenizer.json"]);
});

test("several files go into a folder", async () => {
  write("a.jsonl", line("a"));
  write("b.jsonl.gz", gzipSync(line("b")));
  assert.equal((await enrich(["a.jsonl", "b.jsonl.gz", "-o", "decoded/"])).status, 0);
  assert.equal(read("decoded/a.jsonl").toString(), texted("a"));
  assert.equal(gunzipSync(read("decoded/b.jsonl.gz")).toString(), texted("b"));
  write("file", "x");
  const wrong = await enrich(["a.jsonl", "b.jsonl.gz", "-o", "file"]);
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /need a folder/);
  mkdirSync(join(folder, "sub"));
  write("sub/a.jsonl", line("c"));
  assert.match((await enrich(["a.jsonl", "sub/a.jsonl", "-o", "decoded"])).stderr, /would both become/);
  assert.equal((await enrich(["a.jsonl", "sub/a.jsonl"])).stdout.toString(), texted("a") + texted("c"));
});

test("one bad file does not stop the others", async () => {
  write("good.jsonl", line("Hi"));
  const { status, stderr } = await enrich(["missing.jsonl", "good.jsonl", "-o", "decoded"]);
  assert.equal(status, 2);
  assert.match(stderr, /there is no file missing\.jsonl/);
  assert.equal(read("decoded/good.jsonl").toString(), texted("Hi"));
});

test("a file can be its own output, a link stays one, and the mode stays", async () => {
  write("in.jsonl", line("Hi"));
  spawnSync("chmod", ["600", join(folder, "in.jsonl")]);
  symlinkSync("in.jsonl", join(folder, "link.jsonl"));
  assert.equal((await enrich(["link.jsonl", "-o", "link.jsonl"])).status, 0);
  assert.equal(read("in.jsonl").toString(), texted("Hi"));
  assert.ok(lstatSync(join(folder, "link.jsonl")).isSymbolicLink());
  assert.equal(statSync(join(folder, "in.jsonl")).mode & 0o777, 0o600);
});

test("an output that cannot be written is told", async () => {
  const { status, stderr } = await enrich(["-o", "no/such/folder/out.jsonl"], line("Hi"));
  assert.equal(status, 2);
  assert.match(stderr, /cannot write no\/such\/folder\/out\.jsonl/);
});

test("tokenizers by pattern, from a folder, and in gzip", async () => {
  const swapped = byteLevel();
  swapped.model.vocab = { ...swapped.model.vocab, H: 104, h: 72 };
  mkdirSync(join(folder, "model"));
  write("model/tokenizer.json", gzipSync(jsonBytes(swapped)));
  const input = ["Qwen/x", "other"].map((model) => JSON.stringify({ model, output: { response_ids: [72] } })).join("\n");
  const { stdout, status } = await enrich(["--tokenizer", "Qwen/*=model"], input);
  assert.equal(status, 0);
  assert.deepEqual(stdout.toString().split("\n").map((text) => JSON.parse(text).output.response_text), ["h", "H"]);
  assert.match((await enrich(["-t", "model"], "")).stderr, /several tokenizers for all models/);
});

test("a layout of one's own is used instead", async () => {
  write("layout.json", JSON.stringify({ name: "mine", when: ["/output/toks"], fields: [{ kind: "response", ids: ["/output/toks"], text: "/output/words" }] }));
  const { stdout } = await enrich(["--layout", "layout.json"], '{"output": {"toks": [72, 105], "response_ids": [72]}}');
  assert.equal(stdout.toString(), '{"output": {"words": "Hi", "toks": [72, 105], "response_ids": [72]}}');
  const wrong = await enrich(["--layout", "tokenizer.json"], "{}");
  assert.equal(wrong.status, 2);
  assert.equal((await enrich(["--layout", "verl"], line("Hi"))).stdout.toString(), texted("Hi"));
});

test("ids go and texts are cut on request, and the summary says so", async () => {
  const { status, stdout, stderr } = await enrich(["--drop-ids", "--max-text-chars", "2"], `${line("Hi")}\n${line("you")}\n`);
  assert.equal(status, 0);
  assert.equal(stdout.toString(), `{"output":{"response_text":"Hi"}}\n${texted("you").replace('"you"', '"yo"')}\n`);
  assert.match(stderr, /\n2 token ids taken out\n1 text shortened\nids stay, not_dropped: stdin:2 .*: the text is shortened\n$/);
});

test("conversations are written on request, told, and taken out again", async () => {
  write("chat.json", jsonBytes(chatMl()));
  const prompt = [OPEN, ...byteIds("user\nHi"), OPEN + 1, OPEN, ...byteIds("assistant\n")];
  const call = JSON.stringify({ op_name: "o", trace_id: "t", inputs: { prompt_ids: prompt }, output: { token_ids: byteIds("Hello") }, summary: {} });
  const bare = JSON.stringify({ op_name: "o", trace_id: "t", inputs: { prompt_ids: byteIds("Hi") }, output: {}, summary: {} });
  const { stdout, stderr } = await run(["enrich", "-t", "chat.json", "--messages"], `${call}\n${bare}\n`);
  assert.match(stderr, /^2 conversations written\n/m);
  assert.match(stderr, /^no conversation, no_role: stdin:2 : tokens 0 to 2 are in no message$/m);
  assert.deepEqual(JSON.parse(stdout.toString().split("\n")[0]).inputs.messages, [{ role: "user", content: "Hi" }]);
  assert.equal((await run(["strip", "--messages"], stdout)).stdout.toString(), `${call}\n${bare}\n`);
  assert.doesNotMatch((await run(["enrich", "-t", "chat.json"], call)).stdout.toString(), /messages/);
});

test("an event stream is read whole, by its content or its name", async () => {
  const event = `data: ${JSON.stringify({ output_ids: byteIds("Hi") })}\n\n`;
  const ours = 'data: {"token2text": {"response_text": "Hi"}}\n\n';
  const { stdout, stderr } = await enrich([], `${event}data: [DONE]\n\n`);
  assert.equal(stdout.toString(), `${event}${ours}data: [DONE]\n\n`);
  assert.match(stderr, /^1 record: 1 text written/);
  write("in.sse.gz", gzipSync(`unknown: x\n\n${event}`));
  assert.equal((await enrich(["in.sse.gz"])).stdout.toString(), `unknown: x\n\n${event}${ours}`);
  assert.equal((await run(["strip"], stdout)).stdout.toString(), `${event}data: [DONE]\n\n`);
  write("text.sse", `unknown: x\n\n${event}${ours}`);
  assert.equal((await run(["strip", "text.sse"])).stdout.toString(), `unknown: x\n\n${event}`);
});

test("a few megabytes of gzip that are ten gigabytes are refused after the first", async () => {
  const member = gzipSync(Buffer.alloc(1 << 24, "x"));
  write("bomb.gz", Buffer.concat(Array(640).fill(member)));
  const { status, stdout, stderr } = await enrich(["bomb.gz", "-o", "out.json"]);
  assert.deepEqual([status, stdout.length, readdirSync(folder).sort()], [2, 0, ["bomb.gz", "tokenizer.json"]]);
  assert.match(stderr, /bomb\.gz: limit_exceeded: it begins with a line of more than 1024 MiB/m);
});

test("any number of blank lines may come first", async () => {
  const blank = "\n".repeat(1 << 20);
  const { status, stdout } = await enrich([], blank + line("Hi"));
  assert.equal(status, 0);
  assert.ok(stdout.toString() === blank + texted("Hi"));
});

test("wrong usage is told in one line and exits with 2", async () => {
  /** @type {[string[], RegExp][]} */
  const table = [
    [[], /a command is missing/],
    [["decode"], /no command `decode`/],
    [["enrich"], /needs a tokenizer/],
    [["enrich", "--nope"], /--nope/],
    [["enrich", "-t"], /tokenizer/],
    [["enrich", "-t", "missing.json"], /missing\.json/],
    [["enrich", "-t", "tokenizer.json", "--existing", "maybe"], /--existing must be keep, replace/],
    [["enrich", "-t", "tokenizer.json", "--report", "xml"], /--report must be summary, json, none/],
    [["enrich", "-t", "tokenizer.json", "--compat", "v3"], /--compat must be/],
    [["enrich", "-t", "tokenizer.json", "--format", "parquet"], /parquet/],
    [["enrich", "-t", "tokenizer.json", "--layout", "missing.json"], /missing\.json/],
    [["enrich", "-t", "tokenizer.json", "--max-text-chars", "many"], /--max-text-chars must be a whole number/],
    [["strip", "-t", "tokenizer.json"], /-t/],
  ];
  for (const [args, words] of table) {
    const { status, stdout, stderr } = await run(args);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, words);
    assert.match(stderr, /^token2text: [^\n]+\n$/);
    assert.equal(stdout.length, 0);
  }
});

test("--help and --version", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../pkg/package.json", import.meta.url), "utf8"));
  for (const args of [["--version"], ["enrich", "--version"]]) assert.equal((await run(args)).stdout.toString(), `${version}\n`);
  for (const args of [["--help"], ["-h"], ["enrich", "--help"], ["strip", "-h"]]) {
    const { status, stdout } = await run(args);
    assert.equal(status, 0);
    assert.match(stdout.toString(), /Usage:/);
    assert.ok(stdout.toString().split("\n").every((text) => text.length <= 120));
  }
});

test("a reader that stops early is no error", async () => {
  write("in.jsonl", `${line("Hi")}\n`.repeat(50_000));
  const { status, stderr } = spawnSync("bash", ["-c", `set -o pipefail; node "$0" enrich in.jsonl -t tokenizer.json | head -1 > first`, CLI], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, "");
  assert.equal(read("first").toString(), `${texted("Hi")}\n`);
});

test("lines come out as they go in", async () => {
  const child = spawn(process.execPath, [CLI, "enrich", "-t", "tokenizer.json"], { cwd: folder });
  const first = new Promise((resolve) => child.stdout.once("data", resolve));
  child.stdin.write(`${line("Hi")}\n`);
  assert.equal(String(await first), `${texted("Hi")}\n`);
  child.stdin.end();
  await new Promise((resolve) => child.on("close", resolve));
});

test("memory stays bounded over a large file", async () => {
  const record = `${JSON.stringify({ output: { response_ids: byteIds("x".repeat(2000)) } })}\n`;
  write("in.jsonl", record.repeat(20_000));
  const script = `process.on("exit", () => require("fs").writeFileSync("rss", String(process.resourceUsage().maxRSS)))`;
  write("peak.cjs", script);
  const { status, stderr } = spawnSync(process.execPath, ["--require", join(folder, "peak.cjs"), CLI, "enrich", "in.jsonl", "-t", "tokenizer.json", "-o", "out.jsonl"], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.match(stderr, /20000 records/);
  assert.ok(Number(read("rss")) < 400_000, `peak ${read("rss")} kB`);
});
