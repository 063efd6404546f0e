/**
 * Recorded requests and answers through relays: what arrives is what token2text makes of them, in the encoding and the frame that they
 * came in. TOKEN2TEXT_CAPTURES=folder takes the recordings of another folder laid out like tests/fixtures.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import http from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import zlib from "node:zlib";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { routeOf } from "../../collector/src/relay/routes.js";
import { count, keepingBackend, relayContext, relayTo } from "./support/relay.js";
import { tokenizerFile } from "./support/collector.js";

/** @typedef {import("../../collector/src/types.js").Backend} Backend */
/** @typedef {{ name: string, backend: Backend, file: any, body: Buffer, plain: Buffer }} Recording */

const FOLDER = process.env.TOKEN2TEXT_CAPTURES ?? fileURLToPath(new URL("../fixtures/", import.meta.url));
/** By what the name of a capture or of its folder begins with. @type {Backend[]} */
const BACKENDS = ["mlflow", "trackio", "weave", "otlp"];

/** @type {Awaited<ReturnType<typeof relayContext>>} */
let context;
/** @type {Enricher} */
let enricher;
/** @type {Awaited<ReturnType<typeof keepingBackend>>} */
let keeper;
/** @type {Record<string, Awaited<ReturnType<typeof relayTo>>>} */
const relays = {};

before(async () => {
  enricher = new Enricher(await Tokenizer.load(tokenizerFile), { messages: true });
  context = await relayContext({ enrichReads: true });
  keeper = await keepingBackend();
  for (const name of BACKENDS) relays[name] = await relayTo(context, name, keeper.url);
});
after(async () => {
  await Promise.all(Object.values(relays).map((relay) => relay.close()));
  keeper.close();
  await context.close();
});

/** Every recorded message of a folder. @param {string} folder @returns {Recording[]} */
function recordings(folder) {
  return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).flatMap(({ name }) => {
    const path = join(folder, name);
    if (!existsSync(join(path, "meta.json"))) return recordings(path);
    const { files = [] } = JSON.parse(readFileSync(join(path, "meta.json"), "utf8"));
    const words = path.split("/").slice(-2).reverse();
    const backend = BACKENDS.find((backend) => words.some((word) => word.startsWith(backend)));
    if (!backend) return [];
    return files.filter((/** @type {any} */ { path }) => path).map((/** @type {any} */ file) => {
      const plain = readFileSync(join(path, file.file));
      return { name: `${words[0]}/${file.file}`, backend, file, plain, body: file.content_encoding ? zlib.gzipSync(plain) : plain };
    });
  });
}

const ALL = recordings(FOLDER);
/** Headers that the sockets of this test have their own of. */
const OWN = ["host", "connection", "content-length", "transfer-encoding", "accept-encoding", "expect"];

/**
 * Sends a request.
 *
 * @param {Backend} backend
 * @param {{ method: string, path: string, headers: Record<string, string> }} head
 * @param {Buffer} [body]
 * @returns {Promise<{ status: number | undefined, headers: http.IncomingHttpHeaders, body: Buffer }>}
 */
async function send(backend, { method, path, headers }, body) {
  const request = http.request(relays[backend].url, { method, path, headers, agent: false });
  request.end(body);
  const [response] = await once(request, "response");
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
}

/** @param {any} file */
function headersOf(file) {
  return Object.fromEntries(Object.entries(file.headers ?? {}).filter(([name]) => !OWN.includes(name.toLowerCase())));
}

const requests = ALL.filter(({ file }) => file.direction === "request");
const reads = ALL.filter(({ file }) => file.direction === "response");

test("every recorded request is a write of traces, every recorded answer a read, and texts are put into most", () => {
  const kinds = (/** @type {Recording[]} */ list) => new Set(list.map(({ backend, file }) => routeOf(backend, file.method, file.path.split("?")[0])?.kind));
  assert.deepEqual([[...kinds(requests)], [...kinds(reads)]], [["write"], ["read"]]);
  for (const list of [requests, reads]) {
    for (const backend of BACKENDS) {
      const own = list.filter((recording) => recording.backend === backend);
      const changed = own.filter(({ plain, file }) => !plain.equals(enricher.enrichBody(plain, { url: file.path }).body));
      if (own.length > 0) assert.ok(changed.length >= own.length / 3, `${backend}: ${changed.length} of ${own.length}`);
    }
  }
});

for (const { name, backend, file, body, plain } of requests) {
  test(`write: ${name}`, async () => {
    const contentType = file.content_type ?? undefined;
    const { body: expected, report } = enricher.enrichBody(plain, { contentType, url: file.path });
    const isChanged = report.totals.decoded > 0 || report.totals.messages !== undefined;
    /** @type {Record<string, string>[]} */
    const frames = [{ "content-length": String(body.length) }, { "transfer-encoding": "chunked" }];
    for (const frame of frames) {
      await send(backend, { method: file.method, path: file.path, headers: { ...headersOf(file), ...frame } }, body);
      assert.deepEqual([keeper.got.method, keeper.got.url], [file.method, file.path]);
      const arrived = file.content_encoding === "gzip" && isChanged ? zlib.gunzipSync(keeper.got.body) : keeper.got.body;
      assert.ok(arrived.equals(isChanged ? expected : body));
      const names = keeper.got.headers.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
      assert.ok(names.includes(Object.keys(frame)[0]));
      assert.equal(names.includes("content-encoding"), Boolean(file.content_encoding));
    }
  });
}

/** What answers are encoded in, and how they are framed. @type {[string, (body: Buffer) => Buffer, (body: Buffer) => Buffer][]} */
const ENCODINGS = [
  ["", (body) => body, (body) => body],
  ["gzip", (body) => zlib.gzipSync(body), (body) => zlib.gunzipSync(body)],
  ["br", (body) => zlib.brotliCompressSync(body), (body) => zlib.brotliDecompressSync(body)],
  ["deflate", (body) => zlib.deflateRawSync(body), (body) => zlib.inflateRawSync(body)],
];

for (const { name, backend, file, plain } of reads) {
  test(`read: ${name}`, async () => {
    const { body: expected, report } = enricher.enrichBody(plain, { contentType: file.response_content_type, url: file.path });
    const isChanged = report.totals.decoded > 0 || report.totals.messages !== undefined;
    for (const [encoding, close, open] of ENCODINGS) {
      const body = close(plain);
      const headers = ["Content-Type", file.response_content_type, "Vary", "Accept-Encoding", "ETag", '"x"', "Digest", "sha-256=x", "Content-Length", String(body.length)];
      keeper.answer = { status: 200, headers: encoding ? [...headers, "Content-Encoding", encoding] : headers, body };
      const head = { method: file.method, path: file.path, headers: { ...headersOf(file), "accept-encoding": "zstd, gzip;q=0.5, br" } };
      const read = await send(backend, head, file.request_body && Buffer.from(JSON.stringify(file.request_body)));
      assert.ok(open(read.body).equals(isChanged ? expected : plain));
      assert.ok(keeper.got.headers.includes("gzip;q=0.5, br"));
      // Lines that are not compressed stream, in chunks.
      const isStreamed = /jsonl/.test(file.response_content_type) && !encoding;
      const { vary, etag, digest, "content-encoding": coding, "content-length": length } = read.headers;
      assert.deepEqual({ vary, coding, length }, { vary: "Accept-Encoding", coding: encoding || undefined, length: isStreamed ? undefined : String(read.body.length) });
      assert.deepEqual([etag, digest], isChanged || isStreamed ? [undefined, undefined] : ['"x"', "sha-256=x"]);
    }
  });
}

test("only whole answers of success are looked into", async () => {
  const recording = reads.find(({ backend }) => backend === "trackio");
  assert.ok(recording);
  const { file, plain } = recording;
  for (const status of [206, 404, 500]) {
    keeper.answer = { status, headers: ["ETag", "x", "Content-Length", String(plain.length)], body: plain };
    const read = await send("trackio", { method: file.method, path: file.path, headers: {} }, Buffer.from("{}"));
    assert.ok(read.body.equals(plain));
    assert.deepEqual([read.status, read.headers.etag], [status, "x"]);
  }
});

test("bodies that are decoded are counted, with their time", async () => {
  const before = await count(context, "token2text_bodies_total", 'listener="relay trackio",outcome="enriched"');
  const recording = requests.find(({ backend }) => backend === "trackio");
  assert.ok(recording);
  keeper.answer = { status: 200, headers: ["Content-Length", "0"], body: Buffer.alloc(0) };
  await send("trackio", { method: "POST", path: "/api/bulk_log", headers: {} }, recording.plain);
  assert.equal(await count(context, "token2text_bodies_total", 'listener="relay trackio",outcome="enriched"'), before + 1);
  assert.equal(await count(context, "token2text_held_bytes", ""), 0);
});
