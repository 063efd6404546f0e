/** `token2text view`, as a person starts it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { CLI } from "../../js/support/cli.js";

/**
 * @param {string[]} [args] Files and options.
 * @param {Record<string, string>} [env] Besides that of this process.
 * @returns {Promise<{ url: string, origin: string, stop: () => Promise<void> }>} `url`: with the query that opens the files.
 */
export async function startView(args = [], env = {}) {
  const child = spawn(process.execPath, [CLI, "view", "--port", "0", ...args], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill();
    await once(child, "close");
  };
  let printed = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (printed += text));
  for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    printed += text;
    const url = /^http:\S+/m.exec(printed)?.[0];
    if (url && printed.includes("\n")) return { url, origin: new URL(url).origin, stop };
  }
  throw new Error(`token2text view ended: ${printed}`);
}
