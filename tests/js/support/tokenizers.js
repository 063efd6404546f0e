/** Small tokenizers made by hand, so that these tests need no download. */

/** The byte alphabet of GPT-2: byte to character. */
const ALPHABET = makeAlphabet();

export const SPECIAL = { id: 257, content: "<|end|>" };

/** A byte-level tokenizer: ids 0 to 255 are the bytes, 256 is " world", 257 is special. */
export function byteLevel() {
  const vocab = Object.fromEntries(ALPHABET.map((char, byte) => [char, byte]));
  vocab["Ġworld"] = 256;
  return tokenizer({ vocab, decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true } });
}

/** In `chatMl`: what opens messages. The next one closes them. */
export const OPEN = 258;

/** `byteLevel` with the marks of ChatML. */
export function chatMl() {
  const file = byteLevel();
  for (const content of ["<|im_start|>", "<|im_end|>"]) {
    file.added_tokens.push({ ...file.added_tokens[0], id: OPEN + file.added_tokens.length - 1, content });
  }
  return file;
}

/** One whose decoder has a regular expression, which only the general engine does. */
export function needsGeneral() {
  const decoders = [{ type: "Replace", pattern: { Regex: "[xy]+" }, content: " " }, { type: "Fuse" }];
  return tokenizer({ vocab: { a: 0, x: 1, y: 2, b: 3 }, decoder: { type: "Sequence", decoders } });
}

/** @param {{ vocab: Record<string, number>, decoder: object }} parts */
function tokenizer({ vocab, decoder }) {
  const added = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [{ id: Object.keys(vocab).length, content: SPECIAL.content, ...added, special: true }],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab,
      merges: [],
    },
  };
}

/** @param {unknown} value */
export function jsonBytes(value) {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** The ids of a text in `byteLevel`. @param {string} text */
export function byteIds(text) {
  return [...new TextEncoder().encode(text)];
}

function makeAlphabet() {
  /** @type {string[]} */
  const alphabet = [];
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    alphabet.push(String.fromCharCode(isPrintable ? byte : next++));
  }
  return alphabet;
}
