/** Starts the worker of the viewer. A file of its own, not bundled, since bundlers know this very spelling. */
export function startEngine() {
  return new Worker(new URL("./viewer-engine.js", import.meta.url), { type: "module", name: "token2text viewer" });
}
