/** Bodies that are not what they should be pass byte for byte, and are counted. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { count, keepingBackend, relayContext, relayTo } from "./support/relay.js";
import { tokenizerFile } from "./support/collector.js";

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));
const LIMIT = 1 << 20;
/** @type {Awaited<ReturnType<typeof relayContext>>} */
let context;
/** @type {Enricher} */
let enricher;
/** @type {Awaited<ReturnType<typeof keepingBackend>>} */
let keeper;
/** @type {Awaited<ReturnType<typeof relayTo>>} */
let relay;
before(async () => {
  enricher = new Enricher(await Tokenizer.load(tokenizerFile), { messages: true });
  context = await relayContext();
  context.configuration.limits = { ...context.configuration.limits, bodyBytes: LIMIT };
  keeper = await keepingBackend();
  relay = await relayTo(context, "mlflow", keeper.url);
});
after(async () => {
  await relay.close();
  keeper.close();
  await context.close();
});

/** @param {Uint8Array} body @param {Record<string, string>} headers */
async function arrived(body, headers) {
  const response = await fetch(`${relay.url}/v1/traces`, { method: "POST", headers, body: new Uint8Array(body) });
  assert.equal(response.status, 200);
  return keeper.got.body;
}

/** What token2text makes of a body: the body itself if it makes nothing of it. @param {Buffer} body @param {string} contentType */
function enrichedOr(body, contentType) {
  try {
    const result = enricher.enrichBody(body, { contentType, url: "/v1/traces" });
    const { decoded, messages = 0 } = result.report.totals;
    return decoded + messages > 0 ? Buffer.from(result.body) : body;
  } catch {
    return body;
  }
}

/** Bodies of every format, with their content type. */
const SEEDS = ["wire/otlp", "wire/mlflow", "captures"].flatMap((folder) => {
  return readdirSync(join(FIXTURES, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory()).flatMap(({ name }) => {
    const path = join(FIXTURES, folder, name);
    const files = readdirSync(path).filter((file) => !/^(meta|expected)\.json$/.test(file)).slice(0, 2);
    return files.map((file) => ({ name: `${name}/${file}`, body: readFileSync(join(path, file)), contentType: file.endsWith(".pb") ? "application/x-protobuf" : "application/json" }));
  });
});

/** Numbers below 2^32 from a seed: the same in each run. @param {number} seed */
function numbers(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

/** Bodies cut short, with bytes changed, taken out and doubled. @param {Buffer} body @param {() => number} random @returns {Buffer[]} */
function damaged(body, random) {
  const at = () => random() % Math.max(1, body.length);
  const flipped = Buffer.from(body);
  for (let i = 0; i < 3; i++) flipped[at()] ^= 1 << random() % 8;
  const [a, b] = [at(), at()].sort((x, y) => x - y);
  return [body.subarray(0, at()), flipped, Buffer.concat([body.subarray(0, a), body.subarray(b)]), Buffer.concat([body.subarray(0, b), body.subarray(a)]), Buffer.concat([body, body])];
}

test("damaged bodies", async () => {
  const random = numbers(6);
  assert.ok(SEEDS.length > 50);
  let same = 0;
  for (const { name, body, contentType } of SEEDS) {
    for (const [i, given] of damaged(body, random).entries()) {
      if (given.length > LIMIT) continue;
      const expected = enrichedOr(given, contentType);
      if (expected.equals(given)) same++;
      assert.ok((await arrived(given, { "content-type": contentType })).equals(expected), `${name} ${i}`);
    }
  }
  assert.ok(same > 50, `${same} bodies passed as they were`);
});

const BODY = readFileSync(join(FIXTURES, "wire/otlp/js-proto-qwen3/02-v1-traces.pb"));
const PROTO = { "content-type": "application/x-protobuf" };
const [gzip, deflate, raw, br] = [zlib.gzipSync, zlib.deflateSync, zlib.deflateRawSync, zlib.brotliCompressSync].map((close) => close(BODY));

test("encodings that are known are opened and written again", async () => {
  const expected = enrichedOr(BODY, PROTO["content-type"]);
  assert.ok(!expected.equals(BODY));
  /** @type {[string, Buffer, (body: Buffer) => Buffer][]} */
  const known = [
    ["gzip", gzip, (body) => zlib.gunzipSync(body)],
    ["GZip", gzip, (body) => zlib.gunzipSync(body)],
    ["x-gzip", Buffer.concat([zlib.gzipSync(BODY.subarray(0, 100)), zlib.gzipSync(BODY.subarray(100))]), (body) => zlib.gunzipSync(body)],
    ["deflate", deflate, (body) => zlib.inflateSync(body)],
    ["deflate", raw, (body) => zlib.inflateRawSync(body)],
    ["br", br, (body) => zlib.brotliDecompressSync(body)],
    ["identity", BODY, (body) => body],
  ];
  for (const [encoding, body, open] of known) {
    const digests = { "content-md5": "x", digest: "y", "content-digest": "z" };
    assert.ok(open(await arrived(body, { ...PROTO, "content-encoding": encoding, ...digests })).equals(expected), encoding);
    const names = keeper.got.headers.map((name) => name.toLowerCase());
    assert.equal(names.some((name) => name.includes("digest") || name.includes("md5")), false);
    assert.ok(names.includes("content-encoding") && names.includes(encoding.toLowerCase()));
  }
});

/** @type {Record<string, [string, Buffer, string]>} */
const UNOPENED = {
  "an encoding that nobody knows": ["zstd", BODY, "unsupported_encoding"],
  "two encodings": ["gzip, br", BODY, "unsupported_encoding"],
  "a name of an object's own": ["constructor", BODY, "unsupported_encoding"],
  "no gzip": ["gzip", BODY, "invalid_encoding"],
  "half of it": ["gzip", gzip.subarray(0, gzip.length / 2), "invalid_encoding"],
  "a wrong sum": ["gzip", Buffer.concat([gzip.subarray(0, -8), Buffer.alloc(8)]), "invalid_encoding"],
  "no deflate": ["deflate", Buffer.from([0x78, 0x9c, 1, 2, 3]), "invalid_encoding"],
  "one byte": ["deflate", Buffer.from([0x78]), "invalid_encoding"],
  "no brotli": ["br", BODY, "invalid_encoding"],
  "a bomb": ["gzip", zlib.gzipSync(Buffer.alloc(64 << 20)), "too_large"],
};

for (const [name, [encoding, body, reason]] of Object.entries(UNOPENED)) {
  test(`not opened: ${name}`, async () => {
    const undecoded = () => count(context, "token2text_undecoded_total", `listener="relay mlflow",reason="${reason}"`);
    const before = await undecoded();
    assert.ok((await arrived(body, { ...PROTO, "content-encoding": encoding, "content-md5": "x" })).equals(body));
    assert.ok(keeper.got.headers.includes("content-md5"));
    assert.equal(await undecoded(), before + 1);
    assert.equal(await count(context, "token2text_held_bytes", ""), 0);
  });
}
