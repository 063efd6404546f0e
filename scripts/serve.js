/** Serves the built page of www/dist on this machine only. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./lib.js";

/**
 * @param {number} port Taken if it is free, else the next free one.
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function servePage(port) {
  const www = join(ROOT, "www");
  const { resolve } = createRequire(join(www, "package.json"));
  const { preview } = await import(pathToFileURL(resolve("vite")).href);
  const server = await preview({ root: www, logLevel: "error", preview: { host: "127.0.0.1", port, strictPort: false } });
  return { url: server.resolvedUrls.local[0], close: () => server.close() };
}
