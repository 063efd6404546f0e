/** A process that opens a tokenizer with a cache folder: `node open-tokenizer.js FILE FOLDER`. */
import { openTokenizers } from "../../../collector/src/enrichment/tokenizers.js";
import { logLines } from "./pool.js";

const [file, cacheFolder] = process.argv.slice(2);
const { packed } = await openTokenizers({ tokenizers: [{ pattern: "*", file }], tokenizerOptions: {}, cacheFolder }, logLines().log);
process.send?.(packed[0].bytes.byteLength, () => process.disconnect());
