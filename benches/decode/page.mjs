/** What `browser.mjs` calls in its page. */
import { contest } from "./contest.mjs";
import { loadTwice } from "./loads.mjs";
import { readInputs } from "./paths.mjs";

/** @type {import("./peers.mjs").Host} */
const PAGE = {
  module: (name) => import(name),
  bytes: async (path) => {
    const response = await fetch(PAGE.address(path));
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
  },
  address: (path) => new URL(`/${path}`, location.href).href,
  now: () => performance.now(),
};

Object.assign(globalThis, {
  /** @param {string} key @param {import("./contest.mjs").Options} options */
  contest: async (key, options) => contest(PAGE, key, await readInputs(PAGE, key), options),
  /** @param {string} key @param {string} way */
  loadTwice: (key, way) => loadTwice(PAGE, key, way),
});
