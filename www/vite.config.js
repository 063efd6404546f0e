import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

export default defineConfig({
  // Relative addresses, so that the built page works under any path.
  base: "./",
  build: { target: "es2022", modulePreload: { polyfill: false } },
  // The package is a link to ../pkg; its .wasm files are served from there while developing.
  server: { fs: { allow: [fileURLToPath(new URL("..", import.meta.url))] } },
});
