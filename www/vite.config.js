import { defineConfig } from "vite";

/** The element and its worker, as files of the package: what they import of it they find beside themselves. */
export default defineConfig({
  publicDir: false,
  // A library leaves this to whoever bundles it; nobody bundles the page.
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    target: "es2022",
    minify: true,
    lib: {
      entry: { viewer: "src/viewer.ts", "viewer-engine": "src/engine/main.ts" },
      formats: ["es"],
    },
    rollupOptions: {
      external: /^token2text/,
      output: {
        paths: (id) => id.replace(/^token2text$/, "./index.js").replace(/^token2text\/(.*)$/, "./$1.js"),
        entryFileNames: "[name].js",
        chunkFileNames: "viewer-[name].js",
      },
    },
  },
});
