/** A collector in this process, for tests. */
import { join } from "node:path";
import { start } from "../../../collector/src/main.js";
import { DEFAULTS } from "../../../collector/src/configuration/defaults.js";
import { createLog } from "../../../collector/src/operations/log.js";
import { fetchTokenizer } from "../../../scripts/fetch-tokenizer.js";

/** The folder of Qwen3's tokenizer.json. */
export const tokenizerFolder = fetchTokenizer("qwen3");
export const tokenizerFile = join(tokenizerFolder, "tokenizer.json");
/** Any free port of this machine. */
export const anywhere = { host: "127.0.0.1", port: 0 };

/**
 * A configuration with Qwen3's tokenizer for every model, and one worker.
 *
 * @param {Partial<import("../../../collector/src/types.js").Configuration>} more
 * @returns {import("../../../collector/src/types.js").Configuration}
 */
export function configuration(more) {
  return { ...DEFAULTS, tokenizers: [{ pattern: "*", file: tokenizerFile }], workers: 1, ...more };
}

/**
 * Starts it; the addresses are those of `listeners`, in the order relays, receiver, admin.
 *
 * @param {Partial<import("../../../collector/src/types.js").Configuration>} more
 * @param {ReturnType<typeof createLog>} [log]
 */
export async function startCollector(more, log = createLog("silent")) {
  const collector = await start(configuration(more), log);
  const urls = collector.listeners.map(({ address }) => `http://${address.host}:${address.port}`);
  return { ...collector, urls };
}
