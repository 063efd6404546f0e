/** A server of MLflow, and MLflow's own Python client to look at it with. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
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
export class PythonClient {
  #child;
  #lines;
  #errors = "";

  /** @param {string} url @param {Record<string, string>} [env] */
  constructor(url, env = {}) {
    const script = fileURLToPath(new URL("./mlflow_client.py", import.meta.url));
    this.#child = spawn(join(BIN, "python"), [script, url], { env: { ...process.env, ...QUIET, ...env }, stdio: "pipe" });
    this.#child.stderr.on("data", (chunk) => (this.#errors += chunk));
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  /** @param {string} question A function of `mlflow_client.py`. @param {...unknown} args @returns {Promise<any>} */
  async ask(question, ...args) {
    this.#child.stdin.write(`${JSON.stringify([question, args])}\n`);
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error(`the Python client ended\n${this.#errors}`);
    const { result, error } = JSON.parse(value);
    if (error !== undefined) throw new Error(error);
    return result;
  }

  close() {
    this.#child.stdin.end();
  }
}
