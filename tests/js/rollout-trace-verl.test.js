/** What reaches the backends, beside what verl's own Python sends there for the same calls (tests/fixtures/rollout-trace). */
import { join } from "node:path";
import { test } from "node:test";
import { traced, withAttributes } from "../../pkg/rollout-trace.js";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { EXPERIMENT, makeCalls } from "./support/trace-calls.js";
import { assertSame, mlflowTraces, spansIn, trackioEntry, verls, weaveTraces } from "./support/trace-shapes.js";
import { recorded, server, start } from "./support/tracing.js";

const tokenizer = join(fetchTokenizer("qwen3"), "tokenizer.json");

/** What is compared of what came. @type {Record<"mlflow" | "trackio" | "weave", { project: string, came: () => Promise<any[]> | any[] }>} */
const BACKENDS = {
  mlflow: { project: "calls", came: async () => mlflowTraces(await spansIn(server.bodies("/v1/traces"))) },
  trackio: { project: "calls", came: () => server.entries().map(trackioEntry) },
  weave: { project: "team/calls", came: () => weaveTraces(server.bodies("/calls/complete").flatMap((body) => JSON.parse(body.toString()).batch)) },
};

for (const backend of /** @type {(keyof typeof BACKENDS)[]} */ (Object.keys(BACKENDS))) {
  for (const kind of /** @type {const} */ (["ids", "text"])) {
    test(`records for ${backend} are verl's, with ${kind}`, async () => {
      const { project, came } = BACKENDS[backend];
      await start({ backend, projectName: `${project}-${kind}`, experimentName: EXPERIMENT, token2text: kind === "text" && tokenizer });
      await makeCalls({ traced, withAttributes });
      await recorded();
      assertSame(await came(), await verls(backend, kind));
    });
  }
}
