/** A backend with the command of the collector as a relay before it, and a recorder on either side of the relay. */
import { tokenizerFile } from "./collector.js";
import { Command } from "./command.js";
import { assertPassed, startRecorder } from "./recorder.js";

/**
 * Without conversations, so that nothing but texts is new; what they are is tested in tests/messages_written.rs and beside the real
 * servers in tests/integration.
 *
 * @param {import("../../../collector/src/types.js").Backend} backend
 * @param {string} upstream
 * @param {...string} options
 */
export async function startCommand(backend, upstream, ...options) {
  const args = ["--no-messages", "--tokenizer", tokenizerFile, "--relay", `${backend}=127.0.0.1:0,${upstream}`, "--workers", "1", "--cache", "none", ...options];
  const command = new Command(args);
  return {
    url: await command.url(`relay ${backend}`),
    async close() {
      command.signal("SIGTERM");
      await command.ended;
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
