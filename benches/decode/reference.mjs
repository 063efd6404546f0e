/** Builds the `tokenizers` crate as WebAssembly into target/tokenizers-wasm/, where it is not there yet. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run, step } from "../../scripts/lib.js";

const CRATE = join(ROOT, "benches/tokenizers-wasm");
const OUT = join(ROOT, "target/tokenizers-wasm");

export function buildReference() {
  const hash = createHash("sha256");
  for (const file of ["Cargo.toml", "Cargo.lock", "src/lib.rs"]) hash.update(readFileSync(join(CRATE, file)));
  const digest = hash.digest("hex");
  const stamp = join(OUT, "made.sha256");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  step("building the tokenizers crate for WebAssembly, once; some minutes");
  const target = "wasm32-unknown-unknown";
  run("cargo", ["build", "--release", "--locked", "--target", target, "--target-dir", OUT], { cwd: CRATE });
  run("wasm-bindgen", ["--target", "web", "--out-dir", OUT, join(OUT, target, "release/tokenizers_wasm.wasm")]);
  const wasm = join(OUT, "tokenizers_wasm_bg.wasm");
  run("npx", ["--no-install", "wasm-opt", "--enable-bulk-memory", "--enable-nontrapping-float-to-int", "-O3", wasm, "-o", wasm]);
  writeFileSync(stamp, digest);
}
