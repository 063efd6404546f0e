/** Node, Bun and Deno. */
import { commonJsFiles, serverFiles } from "./support/programs.js";
import { projectWith, run } from "./support/project.js";
import { major, pinned } from "./support/versions.js";
import { testWays } from "./support/ways.js";

/** @typedef {import("./environments.js").EnvironmentId} EnvironmentId */

const NODE = major(process.version);

/** @type {{ id: EnvironmentId, version: string, files: typeof serverFiles, command: [string, ...string[]] }[]} */
const RUNTIMES = [
  { id: "node-import", version: NODE, files: serverFiles, command: [process.execPath, "main.mjs"] },
  { id: "node-require", version: NODE, files: commonJsFiles, command: [process.execPath, "main.cjs"] },
  { id: "bun", version: pinned("bun"), files: serverFiles, command: ["bun", "main.mjs"] },
  // It may read files: that is all the package asks for.
  { id: "deno", version: pinned("deno"), files: serverFiles, command: ["deno", "run", "--allow-read", "--no-prompt", "main.mjs"] },
];

for (const { id, version, files, command } of RUNTIMES) {
  testWays(id, async (way) => {
    const project = projectWith(files(way));
    const [program, ...args] = command;
    return { results: JSON.parse(await run(project, program, args)), version };
  });
}
