/** What the reference decodes, compared with what a Tokenizer does; for Node and for pages. */

/** @typedef {import("../../../pkg/index.js").Tokenizer} Tokenizer */
/** @typedef {{ name: string, ids: number[], text: string, skipped?: string }} Case */
/** Digests of blocks of texts, sixteen digits each. @typedef {{ name: string, kept: string, skipped: string }} Sweep */
/** One of tests/oracle/expected. @typedef {{ max_id: number, cases: Case[], sweeps: Sweep[] }} Expected */
/** The sum in hexadecimal digits. @typedef {(bytes: Uint8Array<ArrayBuffer>) => string | Promise<string>} Sha256 */

const BLOCK = 1000;
const encoder = new TextEncoder();

/**
 * Compares and throws with the first ids and both texts around the place where they part.
 *
 * @param {Tokenizer} tokenizer
 * @param {number[]} ids
 * @param {boolean} skipSpecialTokens
 * @param {string} expected
 * @param {string} where
 */
export function check(tokenizer, ids, skipSpecialTokens, expected, where) {
  const got = tokenizer.decode(Uint32Array.from(ids), { skipSpecialTokens });
  if (got === expected) return;
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at++;
  let id = 0;
  while (id < ids.length && tokenizer.decode(Uint32Array.from(ids.slice(0, id + 1)), { skipSpecialTokens }).length <= at) id++;
  const near = (/** @type {string} */ text) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 40));
  throw new Error(
    `${where}: skipSpecialTokens=${skipSpecialTokens}, ${ids.length} ids, texts part at ${at}, near id number ${id}\n` +
      `     ids: ${ids.slice(Math.max(0, id - 6), id + 6)}\nexpected: ${near(expected)}\n     got: ${near(got)}`,
  );
}

/**
 * Compares all that is expected of a real tokenizer, or only some of the sweeps over its ids. Gives the number of texts.
 *
 * @param {Tokenizer} tokenizer
 * @param {string} key
 * @param {Expected} expected
 * @param {Sha256} sha256
 * @param {(sweep: string) => boolean} [wants]
 */
export async function checkReal(tokenizer, key, { cases, sweeps, max_id }, sha256, wants = () => true) {
  let texts = 0;
  for (const { name, ids, text, skipped = text } of cases) {
    check(tokenizer, ids, false, text, `${key}, case ${name}`);
    check(tokenizer, ids, true, skipped, `${key}, case ${name}`);
    texts += 2;
  }
  for (const sweep of sweeps.filter(({ name }) => wants(name))) {
    const { perBlock, lists } = sweepLists(sweep.name, max_id + 1 + 24);
    for (const skipSpecialTokens of [false, true]) {
      const digests = skipSpecialTokens ? sweep.skipped : sweep.kept;
      if (digests.length !== Math.ceil(lists.length / perBlock) * 16) throw new Error(`${key}, sweep ${sweep.name}: another number of blocks`);
      for (let start = 0, at = 0; start < lists.length; start += perBlock, at += 16) {
        const block = lists.slice(start, start + perBlock);
        const got = await sha256(joined(block.map((ids) => tokenizer.decode(Uint32Array.from(ids), { skipSpecialTokens }))));
        if (got.slice(0, 16) !== digests.slice(at, at + 16)) {
          throw new Error(
            `${key}, sweep ${sweep.name}, block ${at / 16} (lists ${start} to ${start + block.length - 1}, ` +
              `skipSpecialTokens=${skipSpecialTokens}); \`cargo test --test oracle ${key}\` finds the ids`,
          );
        }
        texts += block.length;
      }
    }
  }
  return texts;
}

/** The numbers of the generator. @param {number} state */
function lcg(state) {
  return (/** @type {number} */ n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state * n) / 4294967296);
  };
}

/** @param {string} name @param {number} count @returns {{ perBlock: number, lists: number[][] }} */
function sweepLists(name, count) {
  const ids = Array.from({ length: count }, (_, id) => id);
  const second = lcg(1);
  const random = lcg(2);
  switch (name) {
    case "single":
      return { perBlock: BLOCK, lists: ids.map((id) => [id]) };
    case "pair":
      return { perBlock: BLOCK, lists: ids.map((id) => [id, second(count)]) };
    case "run":
      return { perBlock: BLOCK / 10, lists: Array.from({ length: Math.ceil(count / 10) }, (_, n) => ids.slice(n * 10, n * 10 + 10)) };
    case "random":
      return { perBlock: BLOCK / 50, lists: Array.from({ length: 400 }, () => Array.from({ length: 50 }, () => random(count))) };
    default:
      throw new Error(`unknown sweep ${name}`);
  }
}

/** Texts in UTF-8, each behind its length. @param {string[]} texts */
function joined(texts) {
  const parts = texts.map((text) => encoder.encode(text));
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + 4 + length, 0));
  const lengths = new DataView(bytes.buffer);
  let at = 0;
  for (const part of parts) {
    lengths.setUint32(at, part.length, true);
    bytes.set(part, at + 4);
    at += 4 + part.length;
  }
  return bytes;
}
