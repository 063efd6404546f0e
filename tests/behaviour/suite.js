/**
 * What the package does, wherever it runs: on the main thread and through the worker client, with the slim and the general
 * engine. One file without imports, so that every runtime and bundler can run it.
 */

/** @typedef {any} Api The module `token2text`, `token2text/inline` or `token2text/worker`; results may be Promises. */
/** @typedef {{ t2t: Api, engine: "auto" | "general", load: (source?: any, options?: object) => Promise<any>, enricher: (tokenizers: any, options?: object) => Promise<any> }} Kit */

const bytesOf = (/** @type {unknown} */ value) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const textOf = (/** @type {Uint8Array} */ bytes) => new TextDecoder().decode(bytes);

/** Ids 0 to 255 are bytes in the byte alphabet, 256 is " world", 257 is half of a character, 258 is special. */
function byteLevel() {
  const shown = (/** @type {number} */ byte) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  /** @type {Record<string, number>} */
  const vocab = {};
  let hidden = 0;
  for (let byte = 0; byte < 256; byte++) vocab[String.fromCodePoint(shown(byte) ? byte : 256 + hidden++)] = byte;
  vocab["Ġworld"] = 256;
  vocab["å¥"] = 257;
  return {
    version: "1.0",
    added_tokens: [{ id: 258, content: "<|end|>", single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }],
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: { type: "BPE", dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab, merges: [] },
  };
}

/** Its decoder replaces a regular expression, which only the general engine does. */
const needsGeneral = {
  added_tokens: [],
  decoder: { type: "Replace", pattern: { Regex: "_+" }, content: " " },
  model: { type: "WordLevel", vocab: { a: 0, __: 1, b: 2 }, unk_token: "a" },
};

const plain = bytesOf(byteLevel());

/** @param {unknown} actual @param {unknown} expected */
function equal(actual, expected) {
  const [a, b] = [actual, expected].map((value) => JSON.stringify(ArrayBuffer.isView(value) ? Array.from(/** @type {Uint8Array} */ (value)) : value));
  if (a !== b) throw new Error(`expected ${b}, got ${a}`);
}

/** @param {() => unknown} call @param {string} code @param {RegExp} words */
async function fails(call, code, words) {
  try {
    await call();
  } catch (error) {
    const { code: got, message } = /** @type {{ code: string, message: string }} */ (error);
    if (got !== code || !words.test(message)) throw new Error(`expected ${code} ${words}, got ${got}: ${message}`);
    return;
  }
  throw new Error(`expected ${code}, got no error`);
}

/** @type {Record<string, (kit: Kit) => Promise<void>>} */
const BEHAVIOURS = {
  async "ids of every kind give their text"({ load }) {
    const tokenizer = await load();
    for (const ids of [[72, 105, 256], Uint32Array.of(72, 105, 256), Int32Array.of(72, 105, 256), BigInt64Array.of(72n, 105n, 256n)]) {
      equal(await tokenizer.decode(ids), "Hi world");
    }
    equal(await tokenizer.decode([]), "");
    equal(await tokenizer.decodeBatch([[72], [], Uint32Array.of(105)]), ["H", "", "i"]);
  },
  async "unknown ids give nothing and special tokens are left out on request"({ load }) {
    const tokenizer = await load();
    equal(await tokenizer.decode([72, 999_999, 258]), "H<|end|>");
    equal(await tokenizer.decode([72, 258], { skipSpecialTokens: true }), "H");
  },
  async "bytes that are no character are U+FFFD in text and themselves in bytes"({ load }) {
    const tokenizer = await load();
    equal(await tokenizer.decode([257]), "\ufffd");
    equal(await tokenizer.decode([257, 189]), "好");
    equal(await tokenizer.decodeBytes([257]), [0xe5, 0xa5]);
    const { text, bytes } = await tokenizer.tokenText(257);
    equal([text, Array.from(bytes)], ["\ufffd", [0xe5, 0xa5]]);
  },
  async "each token has its part of the text"({ load }) {
    const { text, ends, flags } = await (await load()).pieces([72, 257, 189, 999_999, 258]);
    equal([text, Array.from(ends), Array.from(flags)], ["H好<|end|>", [1, 2, 2, 2, 9], [0, 0, 4, 2, 1]]);
  },
  async "a leading U+FEFF stays"({ load }) {
    equal(await (await load()).decode([0xef, 0xbb, 0xbf, 72]), "\ufeffH");
  },
  async "a bad id is named with its place"({ load }) {
    const tokenizer = await load();
    await fails(() => tokenizer.decode([72, -1]), "invalid_ids", /ids\[1\] is -1/);
    await fails(() => tokenizer.decode([1.5]), "invalid_ids", /ids\[0\] is 1.5/);
    await fails(() => tokenizer.decode("abc"), "invalid_ids", /array of numbers/);
    await fails(() => tokenizer.decodeBatch([[72], ["x"]]), "invalid_ids", /list 1: ids\[0\] is "x"/);
    equal(await tokenizer.decode([72]), "H");
  },
  async "facts about the vocabulary"({ load, engine }) {
    const { vocabSize, decoder, specialTokens, engine: used } = await (await load()).info;
    equal([vocabSize, decoder, specialTokens], [259, "ByteLevel", [{ id: 258, content: "<|end|>" }]]);
    equal(used, engine === "general" ? "general" : "table");
  },
  async "a tokenizer comes from bytes, a buffer, a Blob, a Response and gzip"({ load, t2t, engine }) {
    const gzip = new Response(new Blob([plain]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
    for (const source of [plain, plain.buffer.slice(0), new Blob([plain]), new Response(plain), await gzip]) {
      equal(await (await load(source)).decode([72]), "H");
    }
    if (engine === "auto") equal(await (await t2t.Tokenizer.fromBytes(plain)).decode([72]), "H");
    await fails(async () => t2t.Tokenizer.fromBytes(new Uint8Array(await gzip)), "compressed_input", /decompress it first/);
  },
  async "the progress of a load ends at its total"({ load }) {
    /** @type {any[]} */
    const seen = [];
    await load(new Blob([plain]), { onProgress: (/** @type {any} */ progress) => seen.push(progress) });
    equal(seen.at(-1), { loaded: plain.length, total: plain.length });
  },
  async "a load is aborted"({ load }) {
    await fails(() => load(plain, { signal: AbortSignal.abort() }), "aborted", /aborted/);
    const controller = new AbortController();
    // Never ends by itself.
    const endless = new Response(new ReadableStream({ start: (stream) => stream.enqueue(plain.subarray(0, 9)) }));
    setTimeout(() => controller.abort(), 20);
    await fails(() => load(endless, { signal: controller.signal }), "aborted", /aborted/);
  },
  async "what is no tokenizer is refused in words"({ load, t2t }) {
    await fails(() => load(bytesOf("<!DOCTYPE html><title>Sign in</title>")), "invalid_tokenizer", /HTML page/);
    await fails(() => load(plain.subarray(0, plain.length - 9)), "invalid_tokenizer", /./);
    await fails(() => load(new Response("no", { status: 403 })), "unreadable_source", /403/);
    await fails(() => load(5), "invalid_options", /not 5/);
    await fails(() => load(plain, { progress: true }), "invalid_options", /no option `progress`/);
    await fails(() => t2t.Tokenizer.fromBytes("abc"), "invalid_options", /takes bytes, not "abc"/);
    await fails(() => new t2t.Tokenizer(), "invalid_options", /await Tokenizer\.load/);
  },
  async "the hash is compared"({ load }) {
    await fails(() => load(plain, { hash: "0".repeat(64) }), "invalid_tokenizer", /its SHA-256 is [0-9a-f]{64}, not 000/);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", plain));
    const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
    equal((await (await load(plain, { hash })).info).sha256, hash);
  },
  async "a body gets its text and gives it back"({ load, enricher, t2t }) {
    const one = await enricher(await load());
    const line = '{"output": {"n": 1.50, "response_ids": [72,105]}, "big": 12345678901234567890}\n';
    const { body, report } = await one.enrichBody(bytesOf(line));
    equal(textOf(body), line.replace('"response_ids"', '"response_text": "Hi", "response_ids"'));
    equal([report.totals.decoded, report.fields[0].status], [1, "decoded"]);
    equal(textOf(await t2t.strip(body)), line);
    equal(textOf(await t2t.strip(body, { url: new URL("https://host/v1/none"), contentType: null, format: "auto" })), line);
    equal(textOf((await one.enrichBody(body)).body), textOf(body));
  },
  async "the origin of a body tells its format"({ load, enricher }) {
    const one = await enricher(await load());
    const { report } = await one.enrichBody(bytesOf("{}"), { url: "https://host/api/bulk_log?x", contentType: null });
    equal([report.format, report.rule], ["trackio", "URL"]);
    await fails(() => one.enrichBody(bytesOf("{}"), { uri: "x" }), "invalid_options", /uri/);
  },
  async "ids go on request"({ load, enricher }) {
    const one = await enricher(await load(), { ids: "drop" });
    const record = { output: { response_ids: [72, 105], score: 1 } };
    equal((await one.enrich(record)).span, { output: { response_text: "Hi", score: 1 } });
    const { body, report } = await one.enrichBody(bytesOf(record));
    equal(textOf(body), '{"output":{"response_text":"Hi","score":1}}');
    equal(report.fields[0].idsDropped, ["/output/response_ids"]);
  },
  async "spans become bodies"({ t2t, load, enricher }) {
    const span = { name: "generate", startUnixNano: "1795959821263328487", status: "ok", step: 3, output: '{"n": 1.50, "token_ids": [72,105]}' };
    const more = { path: "/0", fields: [{ ids: new Uint32Array([72, 105]) }] };
    const line = '{"name":"generate","startUnixNano":"1795959821263328487","status":"ok","step":3,"output":{"n": 1.50, "token_ids": [72,105]}}\n';
    equal(textOf(await t2t.write([{ ...span, ...more }], "record")), line);
    equal(textOf(await t2t.write([{ name: "\ud83d" }], "record")), '{"name":"\ufffd"}\n');
    const options = { "otlp-proto": {}, "otlp-json": {}, mlflow: {}, weave: { projectId: "me/rollouts" }, trackio: { project: "rollouts", run: "one" } };
    for (const [format, needed] of Object.entries(options)) {
      const body = await t2t.write([span], format, needed);
      const { report } = await (await enricher(await load())).enrichBody(body);
      equal([report.format, report.totals.decoded], [format, 1]);
    }
    await fails(() => t2t.write([span], "weave"), "invalid_options", /projectId/);
    await fails(() => t2t.write([span], "auto"), "invalid_options", /`auto`/);
    await fails(() => t2t.write([span], "wave"), "invalid_options", /`wave`, must be one of/);
    await fails(() => t2t.write([span], "record", { projectid: "a" }), "invalid_options", /no option `projectid`/);
    await fails(() => t2t.write(span, "record"), "invalid_body", /a list of spans, not an object/);
    await fails(() => t2t.write([span, 5], "record"), "invalid_body", /spans\[1\] is 5/);
    await fails(() => t2t.write([{ step: Infinity }], "record"), "invalid_body", /spans\[0\]\.step is Infinity/);
    await fails(() => t2t.write([span, { inputs: "{oops" }], "record"), "invalid_body", /spans\[1\]\.inputs is not JSON/);
  },
  async "bodies become spans"({ t2t }) {
    const body = bytesOf({ batch: [{ id: "a", op_name: "generate", trace_id: "t", output: { response_ids: [72, 105], n: 1 } }] });
    const [span, ...others] = await t2t.read(body, { url: new URL("https://host/calls/complete"), layouts: "verl" });
    equal([others.length, span.spanId, span.name, span.output], [0, "a", "generate", '{"response_ids":[72,105],"n":1}']);
    equal([span.fields[0].kind, span.fields[0].path, ...span.fields[0].ids], ["response", "/batch/0/output/response_ids", 72, 105]);
    await fails(() => t2t.read(bytesOf("{")), "invalid_body", /not JSON/);
    await fails(() => t2t.read("{}"), "invalid_body", /TextEncoder/);
    await fails(() => t2t.read(body, { layout: "verl" }), "invalid_options", /no option `layout`/);
  },
  async "the caller's bytes stay as they are"({ load, enricher }) {
    const body = bytesOf({ output: { response_ids: [72] } });
    const before = Array.from(body);
    await (await enricher(await load())).enrichBody(body);
    equal(body, before);
  },
  async "a parsed record gives a new record"({ load, enricher }) {
    const record = { output: { response_ids: [72, 105] }, other: [1, { a: null }] };
    const { span, report } = await (await enricher(await load())).enrich(record);
    equal(span, { output: { response_text: "Hi", response_ids: [72, 105] }, other: [1, { a: null }] });
    equal(record.output, { response_ids: [72, 105] });
    equal(report.fields[0].path, "/output/response_ids");
  },
  async "options are followed and checked"({ load, enricher, t2t }) {
    const tokenizer = await load();
    const layout = { name: "mine", when: ["/output/a"], fields: [{ kind: "response", ids: ["/output/a"], text: "/output/b" }] };
    const mine = await enricher(tokenizer, { layouts: [layout], skipSpecialTokens: true });
    equal((await mine.enrich({ output: { a: [72, 258] } })).span, { output: { b: "H", a: [72, 258] } });
    await fails(() => enricher(tokenizer, { exsting: "keep" }), "invalid_options", /exsting/);
    await fails(() => enricher(tokenizer, { layouts: ["nobody's"] }), "invalid_layout", /nobody's/);
    await fails(() => enricher({}), "invalid_options", /empty object/);
    await fails(() => enricher({ a: 5 }), "invalid_options", /tokenizers\["a"\] is 5/);
    await fails(() => t2t.strip(bytesOf("{}"), { formt: "auto" }), "invalid_options", /formt/);
  },
  async "bodies that are none are refused"({ load, enricher, t2t }) {
    const one = await enricher(await load());
    await fails(() => one.enrichBody("{}"), "invalid_body", /TextEncoder/);
    await fails(() => one.enrich(5), "invalid_body", /a parsed record, not 5/);
    await fails(() => one.enrich(bytesOf("{}")), "invalid_body", /enrichBody/);
    await fails(() => t2t.strip("{}"), "invalid_body", /TextEncoder/);
  },
  async "an enricher outlives its tokenizer, but not its own free"({ load, enricher }) {
    const tokenizer = await load();
    const one = await enricher(tokenizer);
    await tokenizer.free();
    await tokenizer.free();
    await fails(() => tokenizer.decode([72]), "freed", /Tokenizer was freed/);
    await fails(() => enricher(tokenizer), "freed", /Tokenizer.* was freed/);
    equal((await one.enrich({ output: { response_ids: [72] } })).span.output.response_text, "H");
    await one.free();
    await fails(() => one.enrich({}), "freed", /Enricher was freed/);
  },
  async "a file that needs the general engine gets it"({ load }) {
    const tokenizer = await load(bytesOf(needsGeneral));
    equal(await tokenizer.decode([0, 1, 2]), "a b");
    equal((await tokenizer.info).engine, "general");
  },
  async "what is packed is the same tokenizer"({ load, t2t, engine }) {
    for (const source of [plain, bytesOf(needsGeneral)]) {
      const tokenizer = await load(source);
      const packed = await tokenizer.pack();
      const again = await load(packed);
      // What general made of a regular expression at loading is in the packed form: slim reads it.
      equal({ ...(await again.info), engine }, { ...(await tokenizer.info), engine });
      equal(await again.pack(), packed);
      for (const ids of [[0, 1, 2], [72, 105, 258, 999]]) equal(await again.decode(ids), await tokenizer.decode(ids));
      equal(await (await t2t.Tokenizer.fromBytes(packed)).decode([0, 1, 2]), await tokenizer.decode([0, 1, 2]));
      await fails(() => load(packed.subarray(0, packed.length - 1)), "invalid_tokenizer", /cut short or damaged/);
    }
  },
  async "tokenizers of both engines share an enricher"({ load, enricher }) {
    const both = await enricher({ rare: await load(bytesOf(needsGeneral)), "*": await load() });
    const texts = [];
    for (const model of ["rare", "usual"]) {
      const { span } = await both.enrich({ model, output: { response_ids: [97, 1] } });
      texts.push(span.output.response_text);
    }
    equal(texts, [" ", "a\u0001"]);
  },
  async "text becomes ids with the general engine"({ load, t2t, engine }) {
    const tokenizer = await load();
    if (engine === "auto") return fails(() => tokenizer.encode("Hi"), "engine_not_available", /engine: "general"/);
    equal(await tokenizer.encode("Hi\ufffd<|end|>好"), [72, 105, 239, 191, 189, 258, 229, 165, 189]);
    equal(await tokenizer.encode("", { addSpecialTokens: false }), []);
    await fails(() => tokenizer.encode(5), "invalid_options", /encode takes a string, not 5/);
    await fails(() => tokenizer.encode("", { addSpecialTokens: 1 }), "invalid_options", /`addSpecialTokens` must be true or false/);
    const packed = await t2t.Tokenizer.load(await tokenizer.pack(), { engine });
    await fails(() => packed.encode("Hi"), "unsupported_tokenizer", /load its tokenizer.json/);
  },
  async "ids are compared with those of their text"({ load, engine }) {
    const tokenizer = await load();
    if (engine === "auto") return fails(() => tokenizer.drift([72]), "engine_not_available", /engine: "general"/);
    const ids = [72, 105, ...bytesOf("<|end|>")];
    /** @type {unknown[]} */
    const told = [];
    const onProgress = (/** @type {unknown} */ progress) => told.push(progress);
    const drift = await tokenizer.drift(ids, { ranges: [[0, 2]], onProgress });
    equal(drift.runs, [{ tokens: [2, 9], ids: [258], text: "<|end|>", cause: "special_as_text" }]);
    equal(drift.ranges, [{ tokens: [0, 2], equal: true, differing: 0, causes: [] }]);
    equal(told, [{ loaded: 9, total: 9 }]);
    await fails(() => tokenizer.drift(ids, { ranges: [[0, 10]] }), "invalid_options", /ranges\[0\]/);
  },
};

export const names = Object.keys(BEHAVIOURS);

/**
 * Runs everything.
 *
 * @param {Api} t2t
 * @param {{ engine: "auto" | "general" }} options
 * @returns {Promise<{ passed: string[], failed: { name: string, error: string }[] }>}
 */
export async function runBehaviours(t2t, { engine }) {
  /** @type {Kit} */
  const kit = {
    t2t,
    engine,
    load: (source = plain, options = {}) => t2t.Tokenizer.load(source, { engine, ...options }),
    enricher: (tokenizers, options) => t2t.Enricher.create(tokenizers, options),
  };
  await t2t.init();
  const passed = [];
  const failed = [];
  for (const [name, behaves] of Object.entries(BEHAVIOURS)) {
    try {
      await behaves(kit);
      passed.push(name);
    } catch (error) {
      failed.push({ name, error: error instanceof Error ? error.message : String(error) });
    }
  }
  return { passed, failed };
}
