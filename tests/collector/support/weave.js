/** W&B's in-memory trace server class behind routes of ours: see `python/weave_server.py`. */
import { fileURLToPath } from "node:url";
import { Server } from "../../integration/support/servers.js";
import { interpreter } from "./clients.js";

const SCRIPT = fileURLToPath(new URL("./python/weave_server.py", import.meta.url));

export function weaveServer() {
  const python = interpreter("write");
  return new Server({ name: "weave", command: (port) => [python, SCRIPT, String(port)], health: "/health" });
}
