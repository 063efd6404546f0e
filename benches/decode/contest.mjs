/** Decoding with one tokenizer: everyone in turn in one process, on the same ids, all texts compared before anything is timed. */
import { jsonPath } from "./paths.mjs";
import { OURS, peersOf } from "./peers.mjs";
import { race } from "./timing.mjs";

/** @typedef {import("./peers.mjs").Host} Host */
/** @typedef {import("./peers.mjs").Decoder} Decoder */
/**
 * One size of a corpus: where its lists start, and what the reference makes of them.
 *
 * @typedef {object} Size
 * @property {string} name
 * @property {number} ids Of a list.
 * @property {boolean} batch Whether all lists are decoded in one call.
 * @property {number[]} starts
 * @property {number} bytes Of all texts.
 * @property {string} sha256 As inputs.py makes it.
 */
/** @typedef {{ corpus: string, ids: Uint32Array<ArrayBuffer>, sizes: Size[] }} Corpus */
/**
 * How fast one decodes lists of one size.
 *
 * @typedef {object} Row
 * @property {string} tokenizer Its key.
 * @property {string} corpus
 * @property {string} size Its name.
 * @property {string} peer
 * @property {number} ids Of a call; of a batch all.
 * @property {number} us Microseconds of a call.
 * @property {number} spread Half the distance of the quartiles of the rounds, over the median.
 * @property {boolean} isRight Whether all texts are those of the reference.
 */
/**
 * Who does not load a tokenizer, throws, or gives another text than the reference.
 *
 * @typedef {{ tokenizer: string, peer: string, what: string, corpus?: string, size?: string }} Fault
 */
/** @typedef {{ decode: Row[], faults: Fault[] }} Outcome */
/**
 * @typedef {object} Options
 * @property {number} rounds
 * @property {number} leastMs How long a round is for each.
 * @property {number | null} mostIds Sizes with more ids in a call are left out; null: none.
 */

export const TEXT_DECODER = "TextDecoder alone";
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** @param {Host} host @param {string} key @param {Corpus[]} corpora @param {Options} options @returns {Promise<Outcome>} */
export async function contest(host, key, corpora, { rounds, leastMs, mostIds }) {
  /** @type {Fault[]} */
  const faults = [];
  const decoders = await load(host, key, faults);
  const races = [];
  // All before the first race: by then the compilers have seen everyone at work.
  for (const { corpus, ids, sizes } of corpora) {
    for (const size of sizes.filter((size) => countOf(size) <= (mostIds ?? Infinity))) {
      const words = size.starts.map((start) => ids.slice(start, start + size.ids));
      const numbers = words.map((list) => [...list]);
      // How many lists a call decodes: some hundred ids.
      const block = size.batch ? 1 : Math.max(1, Math.min(words.length, Math.floor(256 / size.ids)));
      /** @type {Set<string>} */
      const wrong = new Set();
      /** @type {Record<string, () => unknown>} */
      const tasks = {};
      for (const { name, takes, decoder } of decoders) {
        const lists = takes === "words" ? words : numbers;
        const what = await faultOf(decoder, lists, size);
        if (what) {
          wrong.add(name);
          faults.push({ tokenizer: key, peer: name, what, corpus, size: size.name });
        }
        if (!what?.startsWith("throws")) tasks[name] = size.batch ? inOne(decoder, lists) : inTurn(decoder, lists, block);
      }
      if (!size.batch) tasks[TEXT_DECODER] = textDecoder(decoders, words, block);
      races.push({ corpus, size, block, tasks, wrong });
    }
  }
  const decode = races.flatMap(({ corpus, size, block, tasks, wrong }) =>
    Object.entries(race(tasks, { rounds, leastMs, now: host.now })).map(([peer, { ms, spread }]) => {
      const isRight = !wrong.has(peer);
      return { tokenizer: key, corpus, size: size.name, ids: countOf(size), peer, us: (ms * 1000) / block, spread, isRight };
    }),
  );
  return { decode, faults };
}

/** Ids of one call. @param {Size} size */
function countOf({ batch, ids, starts }) {
  return batch ? ids * starts.length : ids;
}

/** @param {Host} host @param {string} key @param {Fault[]} faults */
async function load(host, key, faults) {
  const json = await host.bytes(jsonPath(key));
  const loaded = [];
  for (const { name, ids, encodings, start } of peersOf(key)) {
    try {
      loaded.push({ name, takes: ids, decoder: (await start(host, encodings?.[key]))(json) });
    } catch (error) {
      faults.push({ tokenizer: key, peer: name, what: `does not load it: ${error}` });
    }
  }
  return loaded;
}

/** What is wrong with the texts, if anything. @param {Decoder} decoder @param {any[]} lists @param {Size} size */
async function faultOf(decoder, lists, size) {
  try {
    const texts = size.batch && decoder.decodeBatch ? decoder.decodeBatch(lists) : lists.map((ids) => decoder.decode(ids));
    return (await digest(texts, size.bytes)) === size.sha256 ? undefined : "another text";
  } catch (error) {
    return `throws: ${String(error).slice(0, 100)}`;
  }
}

/** As in inputs.py. @param {string[]} texts @param {number} length Of the texts, if they are right. */
async function digest(texts, length) {
  const encoder = new TextEncoder();
  const parts = texts.map((text) => encoder.encode(text));
  if (parts.reduce((sum, part) => sum + part.length, 0) !== length) return "";
  const all = new Uint8Array(length + 4 * parts.length);
  const view = new DataView(all.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    all.set(part, at + 4);
    at += 4 + part.length;
  }
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", all));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A batch as a whole. @param {Decoder} decoder @param {any[]} lists */
function inOne(decoder, lists) {
  const decodeAll = decoder.decodeBatch?.bind(decoder) ?? ((/** @type {any[]} */ all) => all.map((ids) => decoder.decode(ids)));
  return () => decodeAll(lists).reduce((sum, text) => sum + lastOf(text), 0);
}

/** Some lists in each call, the next ones in the next. @param {Decoder} decoder @param {any[]} lists @param {number} block */
function inTurn(decoder, lists, block) {
  let at = 0;
  return () => {
    let sum = 0;
    for (let i = 0; i < block; i++) {
      sum += lastOf(decoder.decode(lists[at]));
      at = at + 1 === lists.length ? 0 : at + 1;
    }
    return sum;
  };
}

/** Reads a character of a text, which is when V8 joins what was only strung together. @param {string} text */
function lastOf(text) {
  return text.length > 0 ? text.charCodeAt(text.length - 1) : 0;
}

/**
 * The floor: strings made of UTF-8 that is there already.
 *
 * @param {{ name: string, decoder: Decoder }[]} decoders @param {Uint32Array[]} lists @param {number} block
 */
function textDecoder(decoders, lists, block) {
  const ours = decoders.find(({ name }) => name === OURS)?.decoder;
  if (!ours) throw new Error("ours does not load it");
  const texts = lists.map((ids) => new TextEncoder().encode(ours.decode(ids)));
  return inTurn({ decode: (bytes) => utf8.decode(bytes) }, texts, block);
}
