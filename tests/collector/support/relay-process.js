/** A relay in a process of its own, which tells its port and, when asked, its memory: `relay-process.js UPSTREAM`. */
import { relayContext, relayTo } from "./relay.js";

const { port } = await relayTo(await relayContext(), "mlflow", process.argv[2]);
process.on("message", () => process.send?.(process.memoryUsage()));
process.send?.({ port });
