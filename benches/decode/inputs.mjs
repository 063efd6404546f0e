/** The tokenizers and ids of the decode bench, fetched and made where they are not there yet. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { ROOT, step } from "../../scripts/lib.js";
import { INPUTS, TOKENIZERS, jsonPath, packedPath } from "./paths.mjs";

/** The Python that has the peers of benches/requirements.txt. @returns {string} */
export function python() {
  return join(ROOT, execFileSync(join(ROOT, "scripts/venv.sh"), ["benches"], { encoding: "utf8" }).trim());
}

/** Fetches the tokenizers, makes ids for them by inputs.py, and packs them with the package as it is built. */
export async function makeInputs() {
  const keys = Object.keys(TOKENIZERS);
  keys.forEach(fetchTokenizer);
  const script = join(ROOT, "benches/decode/inputs.py");
  const typescript = join(ROOT, "node_modules/typescript");
  const { version } = JSON.parse(readFileSync(join(typescript, "package.json"), "utf8"));
  const digest = createHash("sha256").update(readFileSync(script)).update(version + JSON.stringify(TOKENIZERS)).digest("hex");
  const folder = join(ROOT, INPUTS);
  const stamp = join(folder, "made.sha256");
  mkdirSync(folder, { recursive: true });
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== digest) {
    step("making ids with the reference");
    const specials = keys.map((key) => `${key}=${TOKENIZERS[key].special}`);
    execFileSync(python(), [script, join(ROOT, ".cache/tokenizers"), typescript, folder, ...specials], { stdio: "inherit" });
    writeFileSync(stamp, digest);
  }
  const { Tokenizer } = await import("../../pkg/node.js");
  for (const key of keys) {
    const tokenizer = Tokenizer.fromBytes(readFileSync(join(ROOT, jsonPath(key))));
    writeFileSync(join(ROOT, packedPath(key)), tokenizer.pack());
    tokenizer.free();
  }
}
