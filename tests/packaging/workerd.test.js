/** A real workerd process with a worker that imports the package through the condition `workerd`. */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { runModule } from "./support/programs.js";
import { projectWith, run, start } from "./support/project.js";
import { pinned } from "./support/versions.js";
import { testWays } from "./support/ways.js";

const WASM = ["slim_bg.wasm", "general_bg.wasm", "reader_bg.wasm", "spans_bg.wasm"];
// As Wrangler bundles: .wasm files stay imports, which the runtime gives as compiled modules.
const BUNDLE = ["--bundle", "--format=esm", "--conditions=workerd,worker,browser", "--external:*.wasm"];

const WORKER = `import { run } from "./run.js";
export default { fetch: async () => Response.json(await run()) };
`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "dist/worker.js"),
    ${WASM.map((name) => `(name = "${name}", wasm = embed "dist/${name}"),`).join("\n    ")}
  ],
  compatibilityDate = "2026-01-01",
);
`;

testWays("workerd", async (way) => {
  const project = projectWith({ "run.js": runModule(way), "worker.js": WORKER, "config.capnp": CONFIG });
  await run(project, "esbuild", ["worker.js", ...BUNDLE, "--outdir=dist"]);
  for (const name of WASM) cpSync(join(project.folder, "node_modules/token2text", name), join(project.folder, "dist", name));
  // Its control messages tell the port that it took.
  const findUrl = (/** @type {string} */ printed) => {
    const port = printed.match(/"event":"listen".*"port":(\d+)/)?.[1];
    return port && `http://127.0.0.1:${port}/`;
  };
  const { url, stop } = await start(project, "workerd", ["serve", "config.capnp", "--control-fd=1"], findUrl);
  try {
    return { results: await (await fetch(url)).json(), version: pinned("workerd") };
  } finally {
    await stop();
  }
});
