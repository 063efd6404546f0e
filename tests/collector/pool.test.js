/** The pool of workers, with real tokenizers and recorded bodies: what it answers is what token2text answers. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bigBody, enricherOf, numbers, recorded, recordedBodies } from "./support/bodies.js";
import { now } from "../../pkg/engines.js";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { freshFolder } from "./support/folders.js";
import { LIMITS, TROUBLED, startPool } from "./support/pool.js";

const direct = enricherOf("qwen3");
const small = recorded("verl-calls-qwen3/calls.jsonl");

/** Too large to be enriched beside the listeners. @param {string} name */
const trouble = (name) => ({ body: Buffer.from(`"trouble: ${name}"`.padStart(20_000)), url: "/" });

/** What token2text answers. @param {import("./support/bodies.js").Recorded} recorded */
function expected({ body, contentType, url }) {
  try {
    const { body: enriched, report } = direct.enrichBody(body, { contentType, url });
    const outcome = Buffer.compare(body, enriched) === 0 ? "unchanged" : "enriched";
    return { outcome, body: Buffer.from(enriched), format: report.format, totals: report.totals };
  } catch (error) {
    return { outcome: "undecoded", reason: "error", message: /** @type {any} */ (error).code };
  }
}

/** @param {import("../../collector/src/types.js").Enrichment} result */
function seen(result) {
  if (result.outcome === "undecoded") return result;
  const { outcome, body, format, totals } = result;
  return { outcome, body: Buffer.from(body), format, totals };
}

/** @type {import("../../collector/src/types.js").Enrichments} */
let enrichments;
before(async () => {
  enrichments = await startPool({ workers: 2 });
});
after(() => enrichments.close());

test("every recorded body becomes what token2text makes of it, and stays what it was", async () => {
  const bodies = recordedBodies();
  assert.ok(bodies.length > 80, `${bodies.length} bodies`);
  const copies = bodies.map(({ body }) => Buffer.from(body));
  const results = await Promise.all(bodies.map((request) => enrichments.enrich(request)));
  /** @type {Record<string, number>} */
  const outcomes = {};
  for (const [i, request] of bodies.entries()) {
    assert.deepEqual(seen(results[i]), expected(request), request.name);
    assert.deepEqual(Buffer.from(request.body), copies[i], `${request.name} was changed`);
    outcomes[results[i].outcome] = (outcomes[results[i].outcome] ?? 0) + 1;
  }
  assert.ok(outcomes.enriched > 40 && outcomes.unchanged > 5, JSON.stringify(outcomes));
});

test("a body that has not changed is the very one that was given", async () => {
  const request = { body: Buffer.from('{"a":1}'), url: "/a.json" };
  const result = await enrichments.enrich(request);
  assert.equal(result.outcome, "unchanged");
  assert.equal(/** @type {any} */ (result).body, request.body);
});

test("a part of a larger buffer is enriched alone", async () => {
  const around = Buffer.concat([Buffer.from("xxx"), small.body, Buffer.from("yyy")]);
  const result = await enrichments.enrich({ ...small, body: around.subarray(3, 3 + small.body.length) });
  assert.deepEqual(seen(result), expected(small));
});

test("hostile bodies are answered as token2text answers them", async () => {
  const below = numbers(7);
  const pieces = ["null", "[]", "{}", '"', "\\", ",", "\n", '"token_ids":[0],', "data: ", "\xff", "\x80\0", "[".repeat(3000)];
  const hostile = recordedBodies().filter(({ body }) => body.length < 20_000).flatMap((request) =>
    Array.from({ length: 3 }, () => {
      const at = below(request.body.length);
      const piece = Buffer.from(pieces[below(pieces.length)], "latin1");
      const body = Buffer.concat([request.body.subarray(0, at), piece, request.body.subarray(at + below(40))]);
      return { ...request, body };
    }));
  const results = await Promise.all(hostile.map((request) => enrichments.enrich(request)));
  for (const [i, request] of hostile.entries()) assert.deepEqual(seen(results[i]), expected(request), request.name);
  assert.ok(results.some(({ outcome }) => outcome === "undecoded") && results.some(({ outcome }) => outcome === "enriched"));
});

test("an error names its code, and nothing of the body is logged", async () => {
  const own = await startPool({}, TROUBLED);
  const broken = Buffer.from('{"output": {"response_ids": [1, 2], "s3cret": ');
  assert.deepEqual(await own.enrich({ body: broken, url: "/s3cret" }), { outcome: "undecoded", reason: "error", message: "invalid_body" });
  assert.deepEqual(await own.enrich({ body: Buffer.from([255, 0, 1]), contentType: "x/s3cret", url: "" }), {
    outcome: "undecoded",
    reason: "error",
    message: "unknown_format",
  });
  await own.enrich({ ...trouble("exit"), url: "/s3cret" });
  await own.close();
  assert.ok(own.lines.length > 0);
  assert.doesNotMatch(own.lines.join(""), /s3cret|trouble/);
});

for (const name of ["exit", "throw", "heap", "trap"]) {
  test(`a worker that ends (${name}) loses its body alone and is replaced`, async () => {
    const limits = { ...LIMITS, workerBytes: 64 << 20 };
    const own = await startPool({ workers: 2, limits }, TROUBLED);
    const good = () => own.enrich(small);
    const results = await Promise.all([good(), own.enrich(trouble(name)), good(), good(), own.enrich(trouble(name)), good(), good()]);
    for (const [i, result] of results.entries()) {
      if (i === 1 || i === 4) assert.equal(/** @type {any} */ (result).reason, "worker_lost");
      else assert.deepEqual(seen(result), expected(small));
    }
    assert.deepEqual(seen(await good()), expected(small));
    await own.close();
  });
}

test("a body that takes too long is given up, its worker is replaced, and the next one is enriched", async () => {
  const own = await startPool({ limits: { ...LIMITS, enrichMillis: 1000 } }, TROUBLED);
  const results = await Promise.all([own.enrich(trouble("spin")), own.enrich(trouble("exit"))]);
  for (const result of results) assert.equal(/** @type {any} */ (result).reason, "timeout");
  // The new worker may take longer to start than a body may wait.
  let next = await own.enrich(small);
  while (next.outcome === "undecoded" && next.reason === "timeout") next = await own.enrich(small);
  assert.deepEqual(seen(next), expected(small));
  // The one that waited did not run later.
  assert.deepEqual(own.lines, []);
  await own.close();
});

test("a large body over the limit of time goes on as it came", async () => {
  const own = await startPool({ limits: { ...LIMITS, enrichMillis: 20 } });
  const result = await own.enrich({ body: bigBody(15), url: "/a.jsonl" });
  assert.equal(/** @type {any} */ (result).reason, "timeout");
  await own.close();
});

test("who goes away stops the work, waiting or running", async () => {
  const own = await startPool({}, TROUBLED);
  const gone = [new AbortController(), new AbortController()];
  const results = [
    own.enrich({ ...trouble("spin"), signal: gone[0].signal }),
    own.enrich({ ...small, signal: gone[1].signal }),
    own.enrich(small),
  ];
  gone[1].abort();
  assert.equal(/** @type {any} */ (await results[1]).reason, "aborted");
  gone[0].abort();
  assert.equal(/** @type {any} */ (await results[0]).reason, "aborted");
  assert.deepEqual(seen(await results[2]), expected(small));
  assert.equal(/** @type {any} */ (await own.enrich({ ...small, signal: AbortSignal.abort() })).reason, "aborted");
  await own.close();
});

test("bodies beyond what may be held are refused at once", async () => {
  const own = await startPool({ limits: { ...LIMITS, heldBytes: 2 * small.body.length } });
  const results = await Promise.all([own.enrich(small), own.enrich(small), own.enrich(small)]);
  assert.deepEqual(results.map(({ outcome }) => outcome), ["enriched", "enriched", "undecoded"]);
  assert.equal(/** @type {any} */ (results[2]).reason, "overloaded");
  assert.equal((await own.enrich(small)).outcome, "enriched");
  await own.close();
});

test("a worker whose memory has grown answers, and is replaced", async () => {
  const limits = { ...LIMITS, workerBytes: 64 << 20 };
  const own = await startPool({ limits });
  const big = { name: "big", body: bigBody(4), url: "/a.jsonl" };
  const results = await Promise.all([own.enrich(small), own.enrich(big), own.enrich(small), own.enrich(small), own.enrich(big)]);
  for (const [i, result] of results.entries()) assert.deepEqual(seen(result), expected([1, 4].includes(i) ? big : small));
  assert.equal(own.lines.filter((line) => line.includes("a worker is replaced")).length, 2);
  await own.close();
});

/** One that is enriched beside the listeners. */
function tiny() {
  const body = Buffer.from(small.body.toString().split("\n").filter((line) => line.includes("_ids") && line.length < 8000)[0]);
  return { ...small, body };
}

/** Runs something while enriching in this thread fails. @param {() => Promise<void>} run */
async function broken(run) {
  const { prototype } = now("spans", "").glue.EnricherCore;
  const { enrichBody } = prototype;
  prototype.enrichBody = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  await run().finally(() => (prototype.enrichBody = enrichBody));
}

test("where a tokenizer has no table, threads enrich small bodies too", async () => {
  const json = JSON.parse(readFileSync(join(fetchTokenizer("qwen3"), "tokenizer.json"), "utf8"));
  const never = { type: "Replace", pattern: { String: "never" }, content: "" };
  const file = join(freshFolder(), "tokenizer.json");
  writeFileSync(file, JSON.stringify({ ...json, decoder: { type: "Sequence", decoders: [json.decoder, never] } }));
  const right = expected(tiny());
  const own = await startPool({ tokenizers: [{ pattern: "*", file }] });
  await broken(async () => assert.deepEqual(seen(await own.enrich(tiny())), right));
  await own.close();
  assert.deepEqual(own.lines, []);
});

test("a small body needs no thread, until something fails beside the listeners", async () => {
  const own = await startPool({ limits: { ...LIMITS, enrichMillis: 2000 } }, TROUBLED);
  const spins = own.enrich(trouble("spin"));
  assert.deepEqual(seen(await own.enrich(tiny())), expected(tiny()));
  assert.equal(expected(tiny()).outcome, "enriched");
  await own.close();
  assert.equal(/** @type {any} */ (await spins).reason, "timeout");
});

test("after a failure beside the listeners a small body goes to a thread, and so do those after it", async () => {
  const right = expected(tiny());
  const own = await startPool();
  await broken(async () => assert.deepEqual(seen(await own.enrich(tiny())), right));
  assert.deepEqual(seen(await own.enrich(tiny())), right);
  await own.close();
  assert.deepEqual(own.lines.map((line) => JSON.parse(line)).map(({ failed, msg }) => ({ failed, msg })), [
    { failed: true, msg: "small bodies are enriched by the workers from now on" },
  ]);
});

test("small bodies do not make the memory beside the listeners larger than a worker's", async () => {
  const limits = { ...LIMITS, workerBytes: 64 << 20 };
  const own = await startPool({ limits });
  const right = expected(tiny());
  direct.enrichBody(bigBody(4));
  for (let i = 0; i < 2; i++) assert.deepEqual(seen(await own.enrich(tiny())), right);
  await own.close();
  assert.deepEqual(own.lines.map((line) => JSON.parse(line).failed), [false]);
});

test("it cannot start with less memory for a worker than its tokenizers take", async () => {
  await assert.rejects(startPool({ limits: { ...LIMITS, workerBytes: 1 << 20 } }), /limits\.workerBytes/);
});

test("closing waits for what is under way, and takes no more", async () => {
  const own = await startPool({});
  const results = [own.enrich(small), own.enrich(small)];
  const closed = own.close();
  assert.equal(/** @type {any} */ (await own.enrich(small)).reason, "error");
  assert.equal(own.health().ready, false);
  await closed;
  for (const result of results) assert.deepEqual(seen(await result), expected(small));
});
