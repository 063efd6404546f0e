/** What must hold for the page whatever is done in it: looked at all the time, and told when the page closes. */

/** Texts that are longer belong into the worker. */
const LONG_JSON = 2000;

/** Runs in the page before its scripts do. @param {number} long */
function instrument(long) {
  const seen = { wasm: 0, longJson: 0, violations: /** @type {string[]} */ ([]), executed: 0, stored: /** @type {string[]} */ ([]) };
  Object.assign(globalThis, { watched: seen, executed: () => seen.executed++ });
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) => seen.violations.push(`${violatedDirective} ${blockedURI} ${sample}`));
  for (const name of /** @type {const} */ (["instantiate", "instantiateStreaming", "compile", "compileStreaming", "Module", "Instance"])) {
    const original = /** @type {any} */ (WebAssembly[name]);
    /** @type {any} */ (WebAssembly)[name] = new Proxy(original, {
      apply: (target, self, args) => (seen.wasm++, Reflect.apply(target, self, args)),
      construct: (target, args) => (seen.wasm++, Reflect.construct(target, args)),
    });
  }
  const { parse } = JSON;
  JSON.parse = (text, reviver) => {
    if (String(text).length > long) seen.longJson++;
    return parse(text, reviver);
  };
  const { json, text } = Response.prototype;
  for (const [name, original] of Object.entries({ json, text })) {
    /** @type {any} */ (Response.prototype)[name] = async function (/** @type {any[]} */ ...args) {
      seen.longJson++;
      return /** @type {any} */ (original).apply(this, args);
    };
  }
}

/**
 * Begins to look at a page.
 *
 * @param {import("playwright-core").Page} page
 * @param {{ origins: string[], expected?: RegExp }} options `origins`: those that may be asked. `expected`: errors on the console, and what breaks the policy, that are meant.
 */
export async function watch(page, { origins, expected }) {
  /** @type {string[]} */
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`error of the page: ${error.stack ?? error}`));
  // Browsers ask for an icon by themselves.
  page.on("console", (message) => message.type() === "error" && !expected?.test(message.text()) && !message.location().url.endsWith("/favicon.ico") && wrong.push(`on the console: ${message.text()} (${message.location().url})`));
  page.on("dialog", (dialog) => {
    wrong.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("popup", (popup) => wrong.push(`another page: ${popup.url()}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["data:", "blob:"].includes(url.protocol) && !origins.includes(url.origin)) wrong.push(`asked ${url.href}`);
  });
  await page.addInitScript(instrument, LONG_JSON);
  return {
    wrong,
    /** What was wrong until now. */
    async told() {
      const seen = await page.evaluate(() => /** @type {any} */ (globalThis).watched);
      if (seen.wasm > 0) wrong.push(`${seen.wasm} uses of WebAssembly outside of the worker`);
      if (seen.longJson > 0) wrong.push(`${seen.longJson} long texts read outside of the worker`);
      if (seen.executed > 0) wrong.push("a script of the trace ran");
      for (const violation of seen.violations) if (!expected?.test(violation)) wrong.push(`against the Content-Security-Policy: ${violation}`);
      return wrong;
    },
  };
}

/** Elements of the page, those in shadow roots too. @param {import("playwright-core").Page} page */
export function countElements(page) {
  return page.evaluate(() => {
    const count = (/** @type {Document | ShadowRoot} */ root) => {
      let sum = 0;
      for (const element of root.querySelectorAll("*")) sum += 1 + (element.shadowRoot ? count(element.shadowRoot) : 0);
      return sum;
    };
    return count(document);
  });
}
