/** `token2text view`: the viewer's page, served to this machine or put into a folder. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { UsageError, parseOptions, wholeNumber } from "./args.js";
import * as help from "./help.js";
import { tokenizerPatterns } from "./setup.js";
import { backendsOf } from "./view-backends.js";
import { exportViewer } from "./view-export.js";
import { serveViewer } from "./view-server.js";

const OPTIONS = {
  tokenizer: { type: "string", short: "t", multiple: true },
  port: { type: "string" },
  mlflow: { type: "string" },
  trackio: { type: "string" },
  export: { type: "string" },
  help: { type: "boolean", short: "h" },
};
const PORT = 4173;
/** A file of such a name is a tokenizer also without `--tokenizer`. */
const TOKENIZER = /(tokenizer\.json|\.t2t)(\.gz)?$/i;
/** Where given files are, seen from the page. */
const FOLDER = "given";

/** What the page is to open: `address`, relative to the page or whole; `path`, if it is a file of this machine. @typedef {{ address: string, path?: string }} Given */
/** @typedef {{ tokenizers: (Given & { pattern: string })[], traces: Given[] }} Opened */

/**
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function view(args) {
  const { settings, values } = parseOptions(/** @type {import("./args.js").OptionTable} */ (OPTIONS), args);
  if (settings.help) {
    process.stdout.write(help.VIEW);
    return 0;
  }
  const files = settings.files[0] === "-" ? [] : settings.files;
  const opened = await givenFiles(
    [...settings.tokenizers, ...files.filter((file) => TOKENIZER.test(file))],
    files.filter((file) => !TOKENIZER.test(file)),
  );
  const query = queryOf(opened);
  if (values.export !== undefined) {
    if (values.port ?? values.mlflow ?? values.trackio) throw new UsageError("--export writes a folder and serves nothing: leave --port, --mlflow and --trackio out");
    const count = await exportViewer(values.export, filesOf(opened));
    process.stdout.write(`${values.export}: ${count} files; the page is index.html${query}\n`);
    return 0;
  }
  const port = wholeNumber("port", values.port);
  if (port !== undefined && port > 65_535) throw new UsageError(`--port must be at most 65535, not ${port}`);
  const backends = backendsOf(values, process.env);
  const server = await serveViewer({ port: port ?? PORT, mayMove: port === undefined, files: filesOf(opened), backends });
  process.stdout.write(`${server.url}${query}\n`);
  for (const name of Object.keys(backends)) process.stdout.write(`${backends[name].title}, to be opened in the page: ${server.url}${name}\n`);
  process.stderr.write("Ctrl-C ends it.\n");
  await once(server.server, "close");
  return 0;
}

/** @param {string[]} tokenizers @param {string[]} traces @returns {Promise<Opened>} */
async function givenFiles(tokenizers, traces) {
  const patterns = await tokenizerPatterns(tokenizers);
  return {
    tokenizers: await Promise.all(patterns.map(async ([pattern, source], i) => ({ pattern, ...(await given(source, `tokenizer-${i + 1}`, "tokenizer.json")) }))),
    traces: await Promise.all(traces.map((source, i) => given(source, String(i + 1)))),
  };
}

/** @param {string} source @param {string} folder @param {string} [inFolder] What is meant if it is a folder. @returns {Promise<Given>} */
async function given(source, folder, inFolder) {
  if (/^https?:\/\//i.test(source)) return { address: source };
  const found = await stat(source).catch(() => undefined);
  if (!found) throw new UsageError(`there is no file ${source}`);
  if (!found.isDirectory()) return { address: `${FOLDER}/${folder}/${encodeURIComponent(basename(source))}`, path: source };
  if (inFolder === undefined) throw new UsageError(`${source} is a folder; name its files`);
  return given(join(source, inFolder), folder);
}

/** The query of the page that opens them. @param {Opened} opened */
function queryOf({ tokenizers, traces }) {
  const parts = [
    ...tokenizers.map(({ pattern, address }) => ["tokenizer", pattern === "*" ? address : `${pattern}=${address}`]),
    ...traces.map(({ address }) => ["trace", address]),
  ];
  // Slashes are good to read, and mean nothing in a query.
  return parts.length === 0 ? "" : `?${new URLSearchParams(parts)}`.replaceAll("%2F", "/");
}

/** Files of this machine by their address. @param {Opened} opened @returns {Map<string, string>} */
function filesOf({ tokenizers, traces }) {
  return new Map([...tokenizers, ...traces].flatMap(({ address, path }) => (path === undefined ? [] : [[decodeURIComponent(address), path]])));
}
