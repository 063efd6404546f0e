import { readdirSync } from "node:fs";
import { defineConfig } from "vite";

/** The unit tests as JavaScript that `node --test` runs. */
export default defineConfig({
  publicDir: false,
  logLevel: "warn",
  build: {
    ssr: true,
    target: "node20",
    outDir: "node_modules/.tests",
    rollupOptions: {
      input: readdirSync("src", { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".test.ts")).map((name) => `src/${name}`),
      external: /^token2text/,
      output: { paths: (id) => (/^token2text(\/|$)/.test(id) ? new URL(`../pkg/${id.slice("token2text/".length) || "node"}.js`, import.meta.url).href : id) },
    },
  },
});
