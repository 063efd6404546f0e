/** One test for each way of an environment: the behaviours run there, and what passed is recorded for README's table. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { names } from "../../behaviour/suite.js";
import { ENVIRONMENTS } from "../environments.js";
import { ROOT } from "./project.js";

/** @typedef {import("../environments.js").EnvironmentId} EnvironmentId */
/** @typedef {import("../environments.js").Way} Way */
/** @typedef {Awaited<ReturnType<typeof import("../../behaviour/suite.js").runBehaviours>>} Outcome */
/** @typedef {Record<"auto" | "general", Outcome>} Results */

/**
 * @param {EnvironmentId} id
 * @param {(way: Way) => Promise<{ results: Results, version: string }>} runWay
 */
export function testWays(id, runWay) {
  const { name, ways } = ENVIRONMENTS[id];
  for (const way of ways) {
    test(`${name}: ${way}`, async () => {
      const { results, version } = await runWay(way);
      assertAllPassed(results);
      record(id, way, version);
    });
  }
}

/** @param {Results} results */
export function assertAllPassed(results) {
  assert.ok(names.length > 0);
  for (const engine of /** @type {const} */ (["auto", "general"])) {
    const { passed, failed } = results[engine];
    assert.deepEqual(failed, [], `engine ${engine}`);
    assert.ok(passed.length >= names.length, `engine ${engine}: ${passed.length} of ${names.length} behaviours ran`);
  }
}

/** @param {EnvironmentId} environment @param {Way} way @param {string} version */
function record(environment, way, version) {
  const folder = join(ROOT, "target/compatibility");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${environment}-${way}.json`), JSON.stringify({ environment, way, version }));
}
