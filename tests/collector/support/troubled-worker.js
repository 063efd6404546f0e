/** The worker as it ships, with bodies that end it: by what is written in them. */
import { setTimeout as sleep } from "node:timers/promises";
import work from "../../../collector/src/enrichment/worker.js";
import { now } from "../../../pkg/engines.js";

// (module (func (export "trap") unreachable))
const TRAP = Buffer.from("AGFzbQEAAAABBAFgAAADAgEABwgBBHRyYXAAAAoFAQMAAAs=", "base64");
const { trap } = /** @type {{ trap(): never }} */ (/** @type {unknown} */ (new WebAssembly.Instance(new WebAssembly.Module(TRAP)).exports));

/** @type {Record<string, (task: any) => unknown>} */
const TROUBLES = {
  exit: () => process.exit(3),
  throw: () => {
    setImmediate(() => {
      throw new Error("thrown outside of the body");
    });
    return sleep(60_000);
  },
  heap: () => {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, Math.random));
  },
  // A trap in the middle of enriching.
  trap: (task) => {
    const { prototype } = now("spans", "").glue.EnricherCore;
    prototype.enrichBody = trap;
    return work(task);
  },
  // For ever.
  spin: () => {
    for (;;);
  },
};

/** @param {any} task */
export default function troubled(task) {
  const name = task && /"trouble: (\w+)"/.exec(Buffer.from(task.body).toString("latin1"))?.[1];
  return name ? TROUBLES[name](task) : work(task);
}
