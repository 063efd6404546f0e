/** The viewer as a folder of files, for any server. */
import { cp, mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { viewerFiles } from "../viewer-files.js";
import { UsageError } from "./args.js";

/** What the page is made of has a folder of its own: servers such as Trackio's have files of their own beside the page. */
const FOLDER = "token2text";
const PAGE = "viewer.html";

/**
 * Writes the page as `index.html`, what it needs, and the files that were named. What was written before is written over.
 *
 * @param {string} folder
 * @param {Map<string, string>} files Paths of files on this machine by their address below the page.
 * @returns {Promise<number>} How many files there are.
 */
export async function exportViewer(folder, files) {
  const there = await readdir(folder).catch((error) => {
    if (error.code === "ENOENT") return /** @type {string[]} */ ([]);
    throw new UsageError(`cannot write into ${folder}: ${error.message}`);
  });
  if (there.length > 0 && !there.includes(FOLDER)) throw new UsageError(`${folder} has other files; name a new folder`);
  const own = [...viewerFiles()].filter(([name]) => name !== PAGE);
  // The sample is looked for beside the page.
  const all = [...own.map(([name, { path }]) => [name.startsWith("sample/") ? name : `${FOLDER}/${name}`, path]), ...files];
  for (const [name, path] of all) {
    const target = join(folder, name);
    await mkdir(dirname(target), { recursive: true });
    await cp(path, target);
  }
  const page = await readFile(viewerFiles().get(PAGE)?.path ?? "", "utf8");
  await writeFile(join(folder, "index.html"), page.replaceAll(/(?<=(?:src|href)="\.\/)/g, `${FOLDER}/`));
  return all.length + 1;
}
