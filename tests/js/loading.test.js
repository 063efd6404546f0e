import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { gzipSync } from "node:zlib";
import { Tokenizer, memoryBytes } from "../../pkg/node.js";
import { failure } from "./support/expect.js";
import { jsonBytes, needsGeneral } from "./support/tokenizers.js";

const folder = mkdtempSync(join(tmpdir(), "token2text-"));
after(() => rmSync(folder, { recursive: true }));

/** Longer than the loader's window, with things in it that can be cut. @param {unknown[]} [merges] */
function file(merges = Array.from({ length: 5000 }, (_, i) => [`▁é${i}`, "\u{1f600}\n"])) {
  const vocab = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`▁日本 "${i}"`, i]));
  return { decoder: { type: "Fuse" }, model: { type: "BPE", vocab, merges } };
}

/** @param {Uint8Array} bytes @param {number} size */
function inChunks(bytes, size) {
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes.slice(at, at + size));
      at += size;
      if (at >= bytes.length) controller.close();
    },
  });
  return new Response(body);
}

test("a file is the same however it comes", async () => {
  for (const json of [JSON.stringify(file()), JSON.stringify(file(), null, 2)]) {
    const bytes = new TextEncoder().encode(json);
    const tokenizer = Tokenizer.fromBytes(bytes);
    assert.equal(tokenizer.decode([4999, 7]), '▁日本 "4999"▁日本 "7"');
    const packed = tokenizer.pack();
    for (const size of [97, 4096, 65_536, 100_000, 1 << 20]) {
      for (const whole of [bytes, gzipSync(bytes), packed]) {
        assert.deepEqual((await Tokenizer.load(inChunks(whole, size))).pack(), packed, `chunks of ${size}`);
      }
    }
    const path = join(folder, "tokenizer.json");
    writeFileSync(path, bytes);
    assert.deepEqual((await Tokenizer.load(path)).pack(), packed);
    for (const cut of [bytes.subarray(0, -2), bytes.subarray(0, 100_001), gzipSync(bytes).subarray(0, -20)]) {
      await assert.rejects(Tokenizer.load(inChunks(cut, 5000)), failure("invalid_tokenizer", /cut short|incomplete gzip/));
    }
  }
});

test("an error ends the reading", async () => {
  let pulls = 0;
  let cancelled = false;
  const body = new ReadableStream({
    pull(controller) {
      pulls += 1;
      controller.enqueue(new TextEncoder().encode(pulls === 1 ? `{"model":{"vocab":7${" ".repeat(1 << 16)}` : " ".repeat(1 << 16)));
    },
    cancel: () => void (cancelled = true),
  });
  await assert.rejects(Tokenizer.load(new Response(body)), failure("invalid_tokenizer", /^model\.vocab: expected/));
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(pulls < 9 && cancelled, `${pulls} reads`);
});

test("UTF-8 is what TextDecoder says it is", () => {
  const fatal = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const { model, decoder } = file(["MARK"]);
  const [before, behind] = JSON.stringify({ model, decoder }).split("MARK");
  const parts = [[0x41], [0xc2, 0xa0], [0xe2, 0x96, 0x81], [0xf0, 0x9f, 0x98, 0x80], [0x80], [0xc1, 0xbf], [0xe0, 0x9f, 0xbf], [0xe0, 0xa0, 0x80]];
  parts.push([0xed, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5], [0xff], [0xe2, 0x96]);
  let seed = 1;
  const random = (/** @type {number} */ below) => ((seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff) >>> 8) % below;
  const seen = { good: 0, bad: 0 };
  const start = new TextEncoder().encode(before);
  const end = new TextEncoder().encode(behind);
  for (let turn = 0; turn < 400; turn++) {
    // Mostly what is right, with the rest anywhere in a block.
    const middle = Array.from({ length: random(40) }, () => (random(12) ? parts[random(4)] : parts[random(parts.length)])).flat();
    const text = Uint8Array.from(middle);
    const bytes = new Uint8Array([...start.subarray(0, 12), ...start.subarray(12), ...text, ...end]);
    let isGood = true;
    try {
      fatal.decode(text);
    } catch {
      isGood = false;
    }
    seen[isGood ? "good" : "bad"] += 1;
    if (isGood) Tokenizer.fromBytes(bytes).free();
    else assert.throws(() => Tokenizer.fromBytes(bytes), failure("invalid_tokenizer", /text that is not UTF-8/), String(middle));
  }
  assert.ok(seen.good > 50 && seen.bad > 50, JSON.stringify(seen));
});

test("a file that needs the general engine is read again, or was kept", async () => {
  const bytes = jsonBytes(needsGeneral());
  const path = join(folder, "general.json");
  writeFileSync(path, bytes);
  const expected = Tokenizer.fromBytes(bytes).pack();
  for (const source of [path, new Blob([/** @type {BlobPart} */ (bytes)]), inChunks(bytes, 50), bytes]) {
    const tokenizer = await Tokenizer.load(source);
    assert.deepEqual(tokenizer.pack(), expected);
    assert.throws(() => tokenizer.encode("a"), failure("engine_not_available", /engine: "general"/));
  }
});

test("white space without end takes no memory", async () => {
  const before = memoryBytes();
  const spaces = new Uint8Array(1 << 20).fill(32);
  const body = new ReadableStream({ pull: (controller) => controller.enqueue(spaces) });
  await assert.rejects(Tokenizer.load(new Response(body)), failure("limit_exceeded", /256 MiB/));
  assert.ok(memoryBytes() - before < 1 << 20);
});
