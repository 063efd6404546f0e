/**
 * A program that logs with Weave's client for JavaScript, whose addresses come from the environment.
 *
 *   node weave.js PROJECT PROMPT_IDS TOKEN_IDS
 */
import { init, op } from "weave";

const [project, promptIds, tokenIds] = process.argv.slice(2);
const client = await init(project);
const generate = op(async function generate(/** @type {{ prompt_ids: number[] }} */ { prompt_ids }) {
  return { token_ids: JSON.parse(tokenIds), stop_reason: "completed", prompt_length: prompt_ids.length };
});
await generate({ prompt_ids: JSON.parse(promptIds) });
await client.waitForBatchProcessing();
