/** The entry for Node, Bun and Deno: spans start WebAssembly by themselves. Not on import, for another entry may have started it. */
import { startBy } from "../engines.js";

export * from "./otlp.js";

startBy(() => import("../node.js"));
