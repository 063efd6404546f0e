/** `token2text pack`, and what a packed file says of its source. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Tokenizer } from "../../pkg/node.js";
import { token2text } from "./support/cli.js";
import { failure } from "./support/expect.js";
import { byteIds, byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";

const folder = mkdtempSync(join(tmpdir(), "token2text-"));
after(() => rmSync(folder, { recursive: true }));
const plain = jsonBytes(byteLevel());
const sha256 = createHash("sha256").update(plain).digest("hex");
/** @param {string} name @param {Uint8Array | string} content */
const write = (name, content) => writeFileSync(join(folder, name), content);
/** @param {string} name */
const read = (name) => readFileSync(join(folder, name));
/** @param {string[]} args @param {Uint8Array} [input] */
const run = (args, input) => token2text(args, { input, cwd: folder });

test("a tokenizer.json becomes a file beside it, which enrich takes", async () => {
  write("tokenizer.json", plain);
  const { status, stdout, stderr } = await run(["pack", "tokenizer.json"]);
  assert.equal(status, 0, stderr);
  assert.equal(stdout.length, 0);
  const packed = read("tokenizer.t2t");
  const sizes = `${(plain.length / 1e6).toFixed(2)} MB of JSON are ${(packed.length / 1e6).toFixed(2)} MB`;
  assert.equal(stderr, `tokenizer.t2t: ${sizes}; SHA-256 of the tokenizer.json: ${sha256}\n`);
  assert.equal(Tokenizer.fromBytes(packed).info.sha256, sha256);
  const enriched = await run(["enrich", "-t", "tokenizer.t2t"], jsonBytes({ output: { response_ids: byteIds("Hi") } }));
  assert.equal(JSON.parse(enriched.stdout.toString()).output.response_text, "Hi");
});

test("gzip in, a folder, the standard streams, gzip out: the same file", async () => {
  mkdirSync(join(folder, "model"));
  write("model/tokenizer.json", plain);
  write("zipped.json.gz", gzipSync(plain));
  for (const args of [["zipped.json.gz"], ["model", "-o", "a.t2t"], ["-", "-o", "b.t2t.gz"]]) {
    const { status, stderr } = await run(["pack", ...args], plain);
    assert.equal(status, 0, stderr);
  }
  const { stdout } = await run(["pack"], plain);
  assert.equal(Tokenizer.fromBytes(stdout).decode([72, 105]), "Hi");
  assert.deepEqual([read("zipped.t2t"), read("a.t2t")], [stdout, stdout]);
  assert.equal((await Tokenizer.load(join(folder, "b.t2t.gz"))).info.sha256, sha256);
});

test("a tokenizer that needs the general engine, and a reading of transformers", async () => {
  write("general.json", jsonBytes(needsGeneral()));
  assert.equal((await run(["pack", "general.json"])).status, 0);
  assert.equal((await Tokenizer.load(join(folder, "general.t2t"))).decode([0, 1, 3]), "a b");
  write("tokenizer_config.json", JSON.stringify({ clean_up_tokenization_spaces: true, tokenizer_class: "GPT2Tokenizer" }));
  write("tokenizer.json", plain);
  const args = ["tokenizer.json", "-o", "reading.t2t", "--compat", "transformers4", "--config", "tokenizer_config.json"];
  assert.equal((await run(["pack", ...args])).status, 0);
  assert.equal((await Tokenizer.load(join(folder, "reading.t2t"))).decode(byteIds("Hi !")), "Hi!");
});

test("wrong usage and wrong files are told in one line", async () => {
  write("packed.t2t", Tokenizer.fromBytes(plain).pack());
  write("cut.json", plain.subarray(0, 1000));
  write("cut.json.gz", gzipSync(plain).subarray(0, 100));
  for (const [args, words] of /** @type {[string[], RegExp][]} */ ([
    [["missing.json"], /there is no file missing\.json/],
    [["packed.t2t"], /packed\.t2t is packed already/],
    [["cut.json"], /^token2text: cut\.json: /],
    [["cut.json.gz"], /damaged or incomplete gzip/],
    [["a.json", "b.json"], /pack takes one tokenizer\.json/],
    [["tokenizer.json", "-o", "no/such/folder.t2t"], /cannot write no\/such\/folder\.t2t/],
    [["--layout", "verl"], /layout/],
    [["--compat", "v3"], /--compat must be/],
  ])) {
    const { status, stdout, stderr } = await run(["pack", ...args]);
    assert.equal(status, 2, args.join(" "));
    assert.match(stderr, words);
    assert.match(stderr, /^token2text: [^\n]+\n$/);
    assert.equal(stdout.length, 0);
  }
  assert.match((await run(["pack", "--help"])).stdout.toString(), /Usage: token2text pack/);
});

test("the format is what docs/packed.md says", () => {
  const json = byteLevel();
  json.model.vocab["Ġcafé"] = 256;
  json.model.vocab["Ã"] = 300;
  json.model.vocab["z".repeat(70)] = 301;
  const tokenizer = Tokenizer.fromBytes(jsonBytes(json));
  const { checksum, formOf, special } = readByTheBook(Buffer.from(tokenizer.pack()));
  assert.ok(checksum);
  assert.deepEqual(special, tokenizer.info.specialTokens);
  for (let id = 0; id < 310; id++) assert.deepEqual(formOf(id), Buffer.from(tokenizer.tokenText(id).bytes), `${id}`);
});

/** A reader of tables, written from the page alone. @param {Buffer} file */
function readByTheBook(file) {
  let at = 52;
  const number = () => file.readUInt32LE((at += 4) - 4);
  const bytes = () => {
    const length = number();
    return file.subarray(at, (at += length));
  };
  const list = (/** @type {() => any} */ part) => Array.from({ length: number() }, part);
  assert.deepEqual([number(), number()], [0, 0], "a table that does not clean up");
  assert.equal(bytes().toString(), "ByteLevel");
  const special = list(() => ({ id: number(), content: bytes().toString() }));
  assert.deepEqual(list(number), [], "no far ids");
  const codes = bytes();
  const longs = list(number);
  const buffers = [Buffer.alloc(0), bytes(), bytes(), bytes()];
  const next = [0, 0, 0, 0];
  const forms = Array.from(codes, (code) => {
    const [kind, length] = [code >> 6, (code & 63) === 63 ? longs.shift() : code & 63];
    return buffers[kind].subarray(next[kind], (next[kind] += length));
  });
  assert.equal(file.length - at, 5 * 4 + 2 * 4, "no first forms, and what is cut");
  const sums = [BigInt(file.length - 20), 0n];
  const mix = (/** @type {bigint} */ sum, /** @type {bigint} */ word) => {
    const mixed = BigInt.asUintN(64, (sum ^ word) * 0x9e3779b97f4a7c15n);
    return mixed ^ (mixed >> 32n);
  };
  const content = Buffer.alloc((Math.floor((file.length - 20) / 16) + 1) * 16);
  file.copy(content, 0, 20);
  for (let i = 0; i < content.length / 8; i++) sums[i % 2] = mix(sums[i % 2], content.readBigUInt64LE(i * 8));
  const checksum = file.readBigUInt64LE(12) === mix(sums[0], sums[1]);
  return { checksum, special, formOf: (/** @type {number} */ id) => forms[id] ?? Buffer.alloc(0) };
}

test("a packed tokenizer tells its source, and `hash` is that of its own bytes", async () => {
  const tokenizer = await Tokenizer.load(plain, { hash: sha256.toUpperCase() });
  const packed = tokenizer.pack();
  const own = createHash("sha256").update(packed).digest("hex");
  const again = await Tokenizer.load(packed, { hash: own });
  assert.equal(again.info.sha256, sha256);
  assert.deepEqual(again.pack(), packed);
  await assert.rejects(Tokenizer.load(packed, { hash: sha256 }), failure("invalid_tokenizer", new RegExp(`its SHA-256 is ${own}, not ${sha256}`)));
  const unlabelled = Tokenizer.fromBytes(plain).pack();
  assert.equal(Tokenizer.fromBytes(unlabelled).info.sha256, undefined);
});
