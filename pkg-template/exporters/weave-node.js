/** The entry for Node, Bun and Deno: WebAssembly starts by itself. Not on import, for another entry may have started it. */
import { startBy } from "../engines.js";

export * from "./weave.js";

startBy(() => import("../node.js"));
