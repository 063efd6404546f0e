/**
 * Writes docs/mlflow.png and docs/mlflow-chat.png: a recorded rollout in MLflow's own page, after `token2text mlflow enrich --mode in-place`,
 * without its conversation and with it.
 *
 *   node scripts/screenshot-mlflow.js
 */
import { join } from "node:path";
import { MlflowExporter, MlflowReader } from "../pkg/exporters/mlflow.js";
import { withPage } from "../tests/js/support/browser.js";
import { Enricher, Tokenizer } from "../pkg/node.js";
import { recorded, tokenizerFolder } from "../tests/integration/support/fixtures.js";
import { mlflowServer } from "../tests/integration/support/mlflow.js";
import { ROOT } from "./lib.js";

const TRACE = "tr-4a6c0e7e01261c757d638875327bd159";
const SIZE = { width: 1440, height: 900 };
/** Of the part of the page that shows the trace. */
const DRAWER = 1008;
/** The arrow that folds the inputs, whose ids would fill the page. @type {[number, number]} */
const FOLD_INPUTS = [976, 164];

const tokenizer = await Tokenizer.load(join(tokenizerFolder, "tokenizer.json"));
await picture("mlflow.png", { messages: false, span: "LLMServerClient.generate", shown: "response_text", folded: "request_id" });
await picture("mlflow-chat.png", { messages: true, span: "ToolAgentLoop.run", shown: "Assistant", folded: "sampling_params" });

/**
 * @param {string} file
 * @param {{ messages: boolean, span: string, shown: string, folded: string }} what Whether there is a conversation, the span, a word of its
 *   output and one of its inputs.
 */
async function picture(file, { messages, span, shown, folded }) {
  const server = await mlflowServer().start();
  const options = { url: server.url, experiment: "rollouts" };
  try {
    for (const body of recorded("verl-qwen3-ids")) await new MlflowExporter(options).export(body);
    const reader = new MlflowReader(options);
    await reader.enrich(TRACE, new Enricher(tokenizer, { messages }), { mode: "in-place" });
    const experiment = (await reader.info(TRACE)).trace_location.mlflow_experiment?.experiment_id;
    await withPage({ viewport: SIZE }, async (page) => {
      await page.goto(`${server.url}/#/experiments/${experiment}/traces?selectedEvaluationId=${TRACE}&startTimeLabel=ALL`);
      // By event: the drawer that slides in covers the name for a while.
      await page.getByText(span).last().dispatchEvent("click");
      await page.getByText(shown).first().waitFor({ state: "attached" });
      await page.mouse.click(...FOLD_INPUTS);
      await page.getByText(folded).first().waitFor({ state: "hidden" });
      await page.screenshot({ path: join(ROOT, "docs", file), clip: { x: 0, y: 0, width: DRAWER, height: SIZE.height } });
    }).catch((error) => {
      // The page itself has errors where there is no internet.
      if (!/the page had errors/.test(String(error))) throw error;
    });
  } finally {
    await server.dispose();
  }
}
