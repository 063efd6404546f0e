/** Ways of loading a tokenizer, until a first id has been decoded; in Node and in browsers. */
import { jsonPath, packedPath } from "./paths.mjs";
import { OURS, OURS_NUMBERS, PEERS } from "./peers.mjs";

/** @typedef {import("./peers.mjs").Host} Host */
/** What is done before the clock runs, and what it is that is timed. @typedef {(host: Host, key: string) => Promise<() => unknown>} Way */

/**
 * One load and a second one in the same process.
 *
 * @typedef {object} Once
 * @property {number} cold Milliseconds of the first.
 * @property {number} warm Of the second.
 * @property {number} [grown] MB by which the first made memory grow at most, where that is known.
 */

export const PACKED = `${OURS}, packed`;
export const STREAMED = `${OURS}, streamed`;
export const JSON_PARSE = "JSON.parse alone";
const FIRST_ID = [1000];

/** @type {Record<string, Way>} */
const OWN = {
  [STREAMED]: async (host, key) => {
    const { init, Tokenizer } = await host.module(OURS);
    await init();
    const source = host.address(jsonPath(key));
    return async () => (await Tokenizer.load(source)).decode(FIRST_ID);
  },
  [PACKED]: async (host, key) => {
    const { init, Tokenizer } = await host.module(OURS);
    await init();
    const packed = await host.bytes(packedPath(key));
    return () => Tokenizer.fromBytes(packed).decode(FIRST_ID);
  },
  [JSON_PARSE]: async (host, key) => {
    const text = new TextDecoder().decode(await host.bytes(jsonPath(key)));
    return () => JSON.parse(text);
  },
};

/** From bytes in memory, the library started before. What has its vocabularies inside gets them by being started. @type {[string, Way][]} */
const OF_PEERS = PEERS.filter(({ name }) => name !== OURS_NUMBERS).map(({ name, encodings, start }) => [
  name,
  async (host, key) => {
    const json = await host.bytes(jsonPath(key));
    if (encodings) return async () => (await start(host, encodings[key]))(json).decode(FIRST_ID);
    const load = await start(host);
    return () => load(json).decode(FIRST_ID);
  },
]);

/** Without `key`, for every tokenizer. @type {Record<string, Way>} */
export const WAYS = { ...Object.fromEntries(OF_PEERS), ...OWN };

/** @param {string} key */
export function waysOf(key) {
  const hasOther = new Set(PEERS.filter(({ encodings }) => encodings && !(key in encodings)).map(({ name }) => name));
  return Object.keys(WAYS).filter((name) => !hasOther.has(name));
}

/**
 * Loads once, and once more in what is warm by then.
 *
 * @param {Host} host
 * @param {string} key
 * @param {string} way
 * @param {() => () => number | undefined} [measureMemory] Started before the first load, asked after it.
 * @returns {Promise<Once>}
 */
export async function loadTwice(host, key, way, measureMemory) {
  const load = await WAYS[way](host, key);
  const grown = measureMemory?.();
  const start = host.now();
  await load();
  const first = { cold: host.now() - start, grown: grown?.() };
  const again = host.now();
  await load();
  return { ...first, warm: host.now() - again };
}
