/** A server of MLflow, and MLflow's own Python client to look at it with. */
import { join } from "node:path";
import { PythonProgram } from "./python.js";
import { BIN, Server } from "./servers.js";

export const LOGIN = { username: "admin", password: "a-long-password" };
/** No helper processes, and no word to anybody. */
const QUIET = { MLFLOW_SERVER_ENABLE_JOB_EXECUTION: "false", MLFLOW_DISABLE_TELEMETRY: "true", DO_NOT_TRACK: "true" };
const AUTH = { MLFLOW_AUTH_ADMIN_PASSWORD: LOGIN.password, MLFLOW_AUTH_ADMIN_USERNAME: LOGIN.username, MLFLOW_FLASK_SERVER_SECRET_KEY: "tests" };

/** @param {{ auth?: boolean }} [options] */
export function mlflowServer({ auth = false } = {}) {
  const store = ["--backend-store-uri", "sqlite:///mlflow.db", "--artifacts-destination", "./artifacts"];
  const more = auth ? ["--app-name", "basic-auth"] : [];
  return new Server({
    name: auth ? "mlflow-auth" : "mlflow",
    command: (port) => [join(BIN, "mlflow"), "server", "--host", "127.0.0.1", "--port", String(port), "--workers", "1", ...store, ...more],
    env: { ...QUIET, ...(auth ? AUTH : {}) },
    health: "/health",
  });
}

/** MLflow's Python client, which answers questions one after the other. */
export class PythonClient extends PythonProgram {
  /** @param {string} url @param {Record<string, string>} [env] */
  constructor(url, env = {}) {
    super(join(BIN, "python"), "mlflow_client.py", [url], { ...QUIET, ...env });
  }
}
