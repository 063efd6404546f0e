/** `token2text check`: what is wrong with the rollouts of files. */
import { Token2TextError, readRollouts } from "../node.js";
import { COMMON, UsageError, parseOptions, wholeNumber } from "./args.js";
import { LEVELS, Told } from "./check-told.js";
import * as help from "./help.js";
import { displayName, readInput } from "./input.js";
import { Progress } from "./progress.js";
import { MAX_BODY, commonOptions, loadTokenizers } from "./setup.js";

/** @typedef {import("../rollout.js").Rollouts} Rollouts */

const OPTIONS = {
  ...COMMON,
  format: { type: "string" },
  tokenizer: { type: "string", short: "t", multiple: true },
  template: { type: "string" },
  "max-tokens": { type: "string" },
  "no-drift": { type: "boolean" },
  level: { type: "string" },
  json: { type: "boolean" },
};

/**
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function check(args) {
  const { settings, values } = parseOptions(/** @type {import("./args.js").OptionTable} */ (OPTIONS), args);
  if (settings.help) {
    process.stdout.write(help.CHECK);
    return 0;
  }
  if (settings.tokenizers.length === 0) throw new UsageError("check needs a tokenizer: --tokenizer tokenizer.json");
  const level = values.level ?? "warning";
  if (!LEVELS.includes(level)) throw new UsageError(`--level must be ${LEVELS.join(", ")}, not \`${level}\``);
  const drift = !values["no-drift"];
  const tokenizers = await loadTokenizers(settings, drift ? { engine: "general" } : {});
  const options = {
    ...(await commonOptions(settings)),
    drift,
    maxTokens: wholeNumber("max-tokens", values["max-tokens"]),
    template: values.template,
  };
  const told = new Told({ json: values.json ?? false, level });
  const progress = new Progress(true);
  let status = 0;
  for (const file of settings.files) {
    try {
      const body = await readWhole(file, progress);
      progress.startRecords(displayName(file));
      const onProgress = (/** @type {{ done: number, total: number }} */ { done, total }) => progress.show(done, total);
      const rollouts = await readRollouts(body, tokenizers, { ...options, url: file, onProgress });
      progress.clear();
      told.add(file, rollouts);
    } catch (error) {
      if (!(error instanceof UsageError) && !(error instanceof Token2TextError)) throw error;
      progress.clear();
      process.stderr.write(`token2text: ${error instanceof UsageError ? "" : `${displayName(file)}: `}${error.message}\n`);
      status = 2;
    }
  }
  told.end();
  return status || (told.isBad ? 1 : 0);
}

/** @param {string} file @param {Progress} progress */
async function readWhole(file, progress) {
  const chunks = [];
  let length = 0;
  for await (const chunk of readInput(file, (bytes) => progress.addBytes(bytes))) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BODY) throw new UsageError(`${displayName(file)} has more than ${MAX_BODY >> 30} GiB; check it in parts`);
  }
  return Buffer.concat(chunks);
}
