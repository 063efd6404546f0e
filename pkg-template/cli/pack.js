/** `token2text pack`: a tokenizer.json as a packed file. */
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { Token2TextError, Tokenizer } from "../node.js";
import { isPacked } from "../packed.js";
import { UsageError, parseOptions } from "./args.js";
import * as help from "./help.js";
import { displayName, readInput } from "./input.js";
import { openOutput } from "./output.js";
import { Progress } from "./progress.js";

/** @typedef {import("../tokenizer.js").LoadOptions} LoadOptions */

const OPTIONS = {
  output: { type: "string", short: "o" },
  config: { type: "string" },
  compat: { type: "string" },
  help: { type: "boolean", short: "h" },
};
/** Bytes of a tokenizer.json, at most, as in the library. */
const MAX_FILE = 256 << 20;

/**
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function pack(args) {
  const { settings } = parseOptions(/** @type {import("./args.js").OptionTable} */ (OPTIONS), args);
  if (settings.help) {
    process.stdout.write(help.PACK);
    return 0;
  }
  if (settings.files.length > 1) throw new UsageError("pack takes one tokenizer.json");
  const [given] = settings.files;
  const isFolder = (await stat(given).catch(() => undefined))?.isDirectory();
  const file = isFolder ? join(given, "tokenizer.json") : given;
  const output = settings.output ?? (file === "-" ? "-" : `${file.replace(/\.gz$/, "").replace(/\.json$/, "")}.t2t`);
  const plain = await readWhole(file);
  if (isPacked(plain)) throw new UsageError(`${displayName(file)} is packed already`);
  const sha256 = createHash("sha256").update(plain).digest("hex");
  const packed = await packedOf(file, plain, { hash: sha256, config: settings.config, compat: /** @type {LoadOptions["compat"]} */ (settings.compat) });
  await write(output, packed);
  const name = output === "-" ? "the standard output" : output;
  const sizes = `${(plain.length / 1e6).toFixed(2)} MB of JSON are ${(packed.length / 1e6).toFixed(2)} MB`;
  process.stderr.write(`${name}: ${sizes}; SHA-256 of the tokenizer.json: ${sha256}\n`);
  return 0;
}

/** @param {string} file */
async function readWhole(file) {
  const progress = new Progress(true);
  progress.startFile(displayName(file), (await stat(file).catch(() => undefined))?.size);
  const chunks = [];
  let length = 0;
  for await (const chunk of readInput(file, (bytes) => progress.addBytes(bytes))) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_FILE) throw new UsageError(`${displayName(file)} is larger than ${MAX_FILE >> 20} MiB, the limit of a tokenizer file`);
  }
  progress.clear();
  return Buffer.concat(chunks);
}

/** @param {string} file @param {Uint8Array} plain @param {LoadOptions} options */
async function packedOf(file, plain, options) {
  try {
    return (await Tokenizer.load(plain, options)).pack();
  } catch (error) {
    if (error instanceof Token2TextError) throw new UsageError(`${displayName(file)}: ${error.message}`);
    throw error;
  }
}

/** @param {string} path @param {Uint8Array} packed */
async function write(path, packed) {
  const output = openOutput(path === "-" ? undefined : path);
  try {
    await output.write(Buffer.from(packed.buffer, packed.byteOffset, packed.length));
    await output.commit();
  } catch (error) {
    output.abandon();
    throw error;
  }
}
