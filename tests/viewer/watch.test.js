/** That what must never happen on a page is seen if it does: the other tests rely on it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withViewer } from "./support/viewer.js";

/** @type {[told: RegExp, act: () => void][]} */
const CASES = [
  [/WebAssembly outside of the worker/, () => void WebAssembly.compile(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0))],
  [/long texts read outside of the worker/, () => JSON.parse(JSON.stringify("x".repeat(5000)))],
  [/a script of the trace ran/, () => /** @type {any} */ (globalThis).executed()],
  [/\d elements/, () => document.body.append(...Array.from({ length: 3000 }, () => document.createElement("p")))],
];

for (const [told, act] of CASES) {
  test(String(told), () => assert.rejects(withViewer({}, (page) => page.evaluate(act)), ({ message }) => told.test(message)));
}
