/** Tracing into a server of this process, ended after each test. */
import assert from "node:assert/strict";
import { afterEach, beforeEach } from "node:test";
import { read } from "../../../pkg/node.js";
import { flush, init, shutdown } from "../../../pkg/rollout-trace.js";
import { TraceServer } from "./trace-server.js";

export const server = new TraceServer();
beforeEach(() => server.reset());
afterEach(() => shutdown({ timeoutMillis: 5000 }));

/** @param {Partial<import("../../../pkg/rollout-trace.js").TraceOptions>} [more] */
export const start = (more) => init({ backend: "trackio", projectName: "team/p", experimentName: "e", server: { url: server.url }, ...more });

/** Sends everything; the metadata of all calls in Trackio, in the order in which they ended. @returns {Promise<any[]>} */
export async function recorded() {
  const { recorded, sent, lastReason } = await flush();
  assert.equal(sent, recorded, lastReason);
  return server.entries().map(({ metrics }) => /** @type {any} */ (Object.values(metrics)[0]).metadata);
}

/** The spans of all calls in MLflow or OTLP. */
export async function spans() {
  await flush();
  return (await Promise.all(server.bodies("/v1/traces").map((body) => read(body)))).flat();
}
