/**
 * Who decodes: how each library is started, loads a tokenizer and decodes. The same in Node and in a browser; a host finds
 * modules and files.
 */

/**
 * @typedef {object} Host
 * @property {(name: string) => Promise<any>} module By its name in `import`.
 * @property {(path: string) => Promise<Uint8Array<ArrayBuffer>>} bytes Of a file, by its path in this repository.
 * @property {(path: string) => string} address Of the same file, as our `Tokenizer.load` takes it.
 * @property {() => number} now The clock of `timing.mjs`.
 */
/**
 * A loaded tokenizer. Libraries that give bytes are timed with the TextDecoder that their users need.
 *
 * @typedef {{ decode: (ids: any) => string, decodeBatch?: (lists: any[]) => string[] }} Decoder
 */
/**
 * @typedef {object} Peer
 * @property {string} name
 * @property {string} [package] Whose version the report tells; ours has none.
 * @property {"words" | "numbers"} ids Uint32Array, or an array of numbers: what it takes without a detour.
 * @property {Record<string, string>} [encodings] What it calls the tokenizers that it has inside; it cannot load others.
 * @property {boolean} [nodeOnly]
 * @property {string[]} [files] What a page loads of it, for the table of sizes.
 * @property {(host: Host, encoding?: string) => Promise<(json: Uint8Array<ArrayBuffer>) => Decoder>} start
 */

export const OURS = "token2text";
export const OURS_NUMBERS = "token2text, from numbers";
export const REFERENCE_WASM = "tokenizers 0.23 (wasm)";
export const HUGGING_FACE = "@huggingface/tokenizers";
const ENCODINGS = { gpt4o: "o200k_base" };
const PLAIN = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** @param {Host} host */
async function startOurs(host) {
  const { init, Tokenizer } = await host.module("token2text");
  await init();
  return (/** @type {Uint8Array} */ json) => Tokenizer.fromBytes(json);
}

/** @type {Peer[]} */
export const PEERS = [
  { name: OURS, ids: "words", files: ["pkg/slim_bg.wasm"], start: startOurs },
  { name: OURS_NUMBERS, ids: "numbers", start: startOurs },
  {
    name: HUGGING_FACE,
    package: HUGGING_FACE,
    ids: "numbers",
    files: ["benches/node_modules/@huggingface/tokenizers/dist/tokenizers.min.mjs"],
    start: async (host) => {
      const { Tokenizer } = await host.module(HUGGING_FACE);
      return (json) => {
        const tokenizer = new Tokenizer(JSON.parse(utf8.decode(json)), { clean_up_tokenization_spaces: false });
        return { decode: (ids) => tokenizer.decode(ids, PLAIN) };
      };
    },
  },
  {
    name: "@lenml/tokenizers",
    package: "@lenml/tokenizers",
    ids: "numbers",
    files: ["benches/node_modules/@lenml/tokenizers/dist/main.mjs"],
    start: async (host) => {
      const { TokenizerLoader } = await host.module("@lenml/tokenizers");
      return (json) => {
        const tokenizerConfig = { clean_up_tokenization_spaces: false };
        const tokenizer = TokenizerLoader.fromPreTrained({ tokenizerJSON: JSON.parse(utf8.decode(json)), tokenizerConfig });
        return { decode: (ids) => tokenizer.decode(ids, PLAIN), decodeBatch: (lists) => tokenizer.batch_decode(lists, PLAIN) };
      };
    },
  },
  {
    name: REFERENCE_WASM,
    ids: "words",
    files: ["target/tokenizers-wasm/tokenizers_wasm_bg.wasm"],
    start: async (host) => {
      const { default: init, Reference } = await host.module("tokenizers-wasm");
      await init({ module_or_path: await host.bytes("target/tokenizers-wasm/tokenizers_wasm_bg.wasm") });
      return (json) => new Reference(json);
    },
  },
  {
    name: "kitoken (wasm)",
    package: "kitoken",
    ids: "words",
    files: ["benches/node_modules/kitoken/dist/web_bg.wasm"],
    start: async (host) => {
      const { default: init, Kitoken } = await host.module("kitoken/web");
      await init({ module_or_path: await host.bytes("benches/node_modules/kitoken/dist/web_bg.wasm") });
      return (json) => {
        const tokenizer = new Kitoken(json);
        return {
          decode: (ids) => utf8.decode(tokenizer.decode(ids, true)),
          decodeBatch: (lists) => tokenizer.decode_all(lists, true).map((/** @type {Uint8Array} */ bytes) => utf8.decode(bytes)),
        };
      };
    },
  },
  {
    name: "tiktoken (wasm)",
    package: "tiktoken",
    ids: "words",
    encodings: ENCODINGS,
    files: ["benches/node_modules/tiktoken/tiktoken_bg.wasm"],
    start: async (host, encoding) => {
      const { init, get_encoding: getEncoding } = await host.module("tiktoken/init");
      const module = await host.bytes("benches/node_modules/tiktoken/tiktoken_bg.wasm");
      await init((/** @type {WebAssembly.Imports} */ imports) => WebAssembly.instantiate(module, imports));
      return () => {
        const tokenizer = getEncoding(encoding);
        return { decode: (ids) => utf8.decode(tokenizer.decode(ids)) };
      };
    },
  },
  {
    name: "gpt-tokenizer",
    package: "gpt-tokenizer",
    ids: "numbers",
    encodings: ENCODINGS,
    files: ["benches/node_modules/gpt-tokenizer/esm/bpeRanks/o200k_base.js"],
    start: async (host, encoding) => {
      const { decode } = await host.module(`gpt-tokenizer/encoding/${encoding}`);
      return () => ({ decode });
    },
  },
  {
    name: "ai-tokenizer",
    package: "ai-tokenizer",
    ids: "numbers",
    encodings: ENCODINGS,
    files: ["benches/node_modules/ai-tokenizer/dist/encoding/o200k_base-CmR1GnPX.js"],
    start: async (host, encoding) => {
      const { Tokenizer } = await host.module("ai-tokenizer");
      const data = await host.module(`ai-tokenizer/encoding/${encoding}`);
      return () => new Tokenizer(data);
    },
  },
];

/** Those that can decode with a tokenizer. @param {string} key */
export function peersOf(key) {
  return PEERS.filter(({ encodings }) => !encodings || key in encodings);
}
