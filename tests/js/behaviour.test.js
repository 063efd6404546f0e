/** The behaviours that hold everywhere, here in Node; tests/packaging runs the same file in every other runtime. */
import assert from "node:assert/strict";
import { test } from "node:test";
import * as inline from "../../pkg/inline.js";
import * as main from "../../pkg/node.js";
import * as worker from "../../pkg/worker-node.js";
import { names, runBehaviours } from "../behaviour/suite.js";

for (const [place, t2t] of Object.entries({ main, worker, inline })) {
  for (const engine of /** @type {const} */ (["auto", "general"])) {
    test(`${place}, ${engine}`, async () => {
      const { passed, failed } = await runBehaviours(t2t, { engine });
      assert.deepEqual(failed, []);
      assert.deepEqual(passed, names);
    });
  }
}
