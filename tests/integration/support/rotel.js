/** Rotel, a collector for OpenTelemetry in Rust that says what it has received; and OpenTelemetry's own classes in Python. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PythonProgram } from "./python.js";
import { Server } from "./servers.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Keeps nothing, and prints every span with its attributes. */
const PRINTING = ["--exporter", "blackhole", "--debug-log", "traces", "--debug-log-verbosity", "detailed"];

/** Python with OpenTelemetry's own packages and rotel. */
export function otelPython() {
  const { stdout, stderr, status } = spawnSync(join(ROOT, "scripts/venv.sh"), ["otel"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`OpenTelemetry's packages could not be installed: ${stderr}`);
  return join(ROOT, stdout.trim());
}

/** @param {string[]} [args] What becomes of spans. Default: they are printed, see `log()`. */
export function rotelServer(args = PRINTING) {
  const program = spawnSync(otelPython(), ["-c", "from rotel.agent import agent; print(agent.agent_path)"], { encoding: "utf8" }).stdout.trim();
  return new Server({
    name: "rotel",
    command: (port) => [program, "start", "--otlp-http-endpoint", `127.0.0.1:${port}`, "--otlp-grpc-endpoint", "127.0.0.1:0", ...args],
  });
}

/** OpenTelemetry's classes of OTLP: see `otlp_client.py`. */
export function otlpClient() {
  return new PythonProgram(otelPython(), "otlp_client.py", []);
}
