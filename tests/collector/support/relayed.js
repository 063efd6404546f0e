/** A backend with the command of the collector as a relay before it, and a recorder on either side of the relay. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { tokenizerFile } from "./collector.js";
import { assertPassed, startRecorder } from "./recorder.js";

const COMMAND = fileURLToPath(new URL("../../../collector/bin/token2text-collector.js", import.meta.url));

/**
 * @param {import("../../../collector/src/types.js").Backend} backend
 * @param {string} upstream
 * @param {...string} options
 */
export async function startCommand(backend, upstream, ...options) {
  const args = ["--tokenizer", tokenizerFile, "--relay", `${backend}=127.0.0.1:0,${upstream}`, "--workers", "1", "--cache", "none", ...options];
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "inherit", "pipe"] });
  const ended = once(child, "exit");
  const lines = createInterface(child.stderr);
  let said = "";
  /** @type {Promise<string>} */
  const listens = new Promise((resolve) => {
    lines.on("line", (line) => {
      said += `${line}\n`;
      const { msg = "", address } = JSON.parse(line);
      if (msg.startsWith("listens")) resolve(`http://${address}`);
    });
  });
  const failed = ended.then(() => Promise.reject(new Error(`the collector ended\n${said}`)));
  failed.catch(() => {});
  return {
    url: await Promise.race([listens, failed]),
    async close() {
      child.kill();
      await ended;
    },
  };
}

/**
 * @param {import("../../../collector/src/types.js").Backend} backend
 * @param {string} upstream
 * @param {{ options?: string[], fault?: import("./recorder.js").Fault }} [more] Of the command; what the backend does wrong.
 */
export async function startRelayed(backend, upstream, { options = [], fault } = {}) {
  const behind = await startRecorder(upstream, fault);
  const command = await startCommand(backend, behind.url, ...options);
  const before = await startRecorder(command.url);
  return {
    /** For clients. */
    url: before.url,
    /** Of the relay itself. */
    relay: command.url,
    /** @param {(exchange: import("./recorder.js").Exchange) => boolean} mayChange */
    changed: (mayChange) => assertPassed(before.exchanges, behind.exchanges, mayChange),
    async close() {
      await before.close();
      await command.close();
      await behind.close();
    },
  };
}
