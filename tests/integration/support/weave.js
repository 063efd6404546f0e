/** W&B's in-memory trace server class behind routes of ours (see `weave_server.py`), and W&B's Python client to look at it with. */
import { fileURLToPath } from "node:url";
import { PythonProgram, interpreter } from "./python.js";
import { Server } from "./servers.js";

const SCRIPT = fileURLToPath(new URL("./weave_server.py", import.meta.url));
/** The only one that the server takes. */
export const WEAVE_KEY = "0123456789".repeat(4);

export function weaveServer() {
  const python = interpreter("write");
  return new Server({ name: "weave", command: (port) => [python, SCRIPT, String(port)], health: "/health" });
}

/** What a trainer sets to log to a server. @param {string} url @returns {Record<string, string>} */
export function weaveSettings(url) {
  return { WF_TRACE_SERVER_URL: url, WANDB_BASE_URL: url, WANDB_API_KEY: WEAVE_KEY };
}

/** W&B's client, which answers questions one after the other: see `weave_client.py`. @param {string} url */
export function weaveClient(url) {
  return new PythonProgram(interpreter("collector"), "weave_client.py", [], { ...weaveSettings(url), WANDB_ERROR_REPORTING: "false", DO_NOT_TRACK: "true" });
}
