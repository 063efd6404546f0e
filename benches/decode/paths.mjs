/** Which tokenizers are measured, and where in the repository their files are; for Node and browsers. */

/**
 * By their keys in tests/oracle/tokenizers.json; the special token is strewn into the ids.
 *
 * @type {Record<string, { name: string, special: string }>}
 */
export const TOKENIZERS = {
  qwen2_5: { name: "Qwen2.5", special: "<|im_end|>" },
  gpt4o: { name: "o200k", special: "<|endoftext|>" },
  gemma3: { name: "Gemma 3", special: "<end_of_turn>" },
  llama3_1: { name: "Llama 3.1", special: "<|eot_id|>" },
};
export const INPUTS = ".cache/benches";

/** @param {string} key */
export function jsonPath(key) {
  return `.cache/tokenizers/${key}/tokenizer.json`;
}

/** @param {string} key */
export function packedPath(key) {
  return `${INPUTS}/${key}.packed`;
}

/**
 * The ids that inputs.py made.
 *
 * @param {import("./peers.mjs").Host} host
 * @param {string} key
 * @returns {Promise<import("./contest.mjs").Corpus[]>}
 */
export async function readInputs(host, key) {
  const manifest = JSON.parse(new TextDecoder().decode(await host.bytes(`${INPUTS}/${key}.json`)));
  return Promise.all(
    Object.entries(manifest).map(async ([corpus, sizes]) => {
      const bytes = await host.bytes(`${INPUTS}/${key}-${corpus}.u32`);
      return { corpus, sizes, ids: new Uint32Array(bytes.buffer) };
    }),
  );
}
