/** Every environment that the package promises to work in, and the ways it is used there: the rows of README's table. */

/** The ways of using the package: the columns. */
export const WAYS = {
  main: "`token2text`",
  ownWorker: "in your own worker",
  client: "`token2text/worker`",
  inline: "`token2text/inline`",
};

/** @typedef {keyof typeof WAYS} Way */
/** @typedef {{ name: string, ways: Way[] }} Environment */

/** @type {Way[]} */
const EVERY_WAY = ["main", "ownWorker", "client", "inline"];

/** @satisfies {Record<string, Environment>} */
export const ENVIRONMENTS = {
  "node-import": { name: "Node, `import`", ways: EVERY_WAY },
  "node-require": { name: "Node, `require`", ways: EVERY_WAY },
  bun: { name: "Bun", ways: EVERY_WAY },
  deno: { name: "Deno", ways: EVERY_WAY },
  // It has no workers, and compiles no bytes.
  workerd: { name: "workerd (Cloudflare Workers)", ways: ["main"] },
  chromium: { name: "Chromium, no bundler", ways: EVERY_WAY },
  firefox: { name: "Firefox ESR, no bundler", ways: EVERY_WAY },
  "vite-dev": { name: "Vite, development server", ways: EVERY_WAY },
  "vite-build": { name: "Vite, build", ways: EVERY_WAY },
  webpack: { name: "webpack, no configuration", ways: EVERY_WAY },
  "esbuild-browser": { name: "esbuild for browsers, `.wasm` copied", ways: EVERY_WAY },
  // One file has neither a worker's script nor a .wasm beside it.
  "esbuild-node-esm": { name: "esbuild for Node, one file, ESM", ways: ["inline"] },
  "esbuild-node-cjs": { name: "esbuild for Node, one file, CommonJS", ways: ["inline"] },
};

/** @typedef {keyof typeof ENVIRONMENTS} EnvironmentId */
