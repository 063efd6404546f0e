/**
 * Packs the collector as it is published: with the version of token2text that it was made with, in place of the link to pkg/.
 *
 *   node scripts/pack-collector.js    leaves token2text-collector-VERSION.tgz in target/ and prints its path
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, repository, run } from "./lib.js";

const SOURCE = join(ROOT, "collector");
/** What stands there is published by `npm publish`. */
const PACKAGE = join(ROOT, "target/collector");

const manifest = JSON.parse(readFileSync(join(SOURCE, "package.json"), "utf8"));
const { version } = JSON.parse(readFileSync(join(ROOT, "pkg-template/package.json"), "utf8"));
manifest.dependencies.token2text = version;
Object.assign(manifest, repository());

rmSync(PACKAGE, { recursive: true, force: true });
mkdirSync(PACKAGE, { recursive: true });
for (const name of [...manifest.files, "README.md"]) {
  // The licence is that of the whole project.
  cpSync(join(name === "LICENSE" ? ROOT : SOURCE, name), join(PACKAGE, name), { recursive: true });
}
writeFileSync(join(PACKAGE, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
run("npm", ["pack", "--silent", "--pack-destination", join(ROOT, "target"), PACKAGE], { stdio: ["ignore", "ignore", "inherit"] });
console.log(join(ROOT, "target", `${manifest.name}-${manifest.version}.tgz`));
