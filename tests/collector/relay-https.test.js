/** A backend behind https, whose certificate an authority of one's own has signed. */
import assert from "node:assert/strict";
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { talk } from "./support/wire.js";

const folder = mkdtempSync(join(tmpdir(), "token2text-https-"));
const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
/** @type {https.Server} */
let backend;
/** @type {string | undefined} */
let host;
let upstream = "";
before(async () => {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  backend = https.createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    ({ host } = request.headers);
    response.end(`${/** @type {any} */ (request.socket).servername} ${request.url}`);
  });
  backend.listen(0, "localhost");
  await once(backend, "listening");
  upstream = `https://localhost:${/** @type {import("node:net").AddressInfo} */ (backend.address()).port}`;
});
after(() => {
  backend.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a relay in a process with such variables answers. @param {NodeJS.ProcessEnv} env */
async function asked(env) {
  const child = fork(fileURLToPath(new URL("./support/relay-process.js", import.meta.url)), [`${upstream}/under`], { env: { ...process.env, ...env } });
  const [{ port }] = await once(child, "message");
  const said = await talk(port, "GET /x?y HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  child.kill();
  return said;
}

test("a certificate that is trusted", async () => {
  const { text } = await asked({ NODE_EXTRA_CA_CERTS: cert });
  assert.match(text, /^HTTP\/1.1 200 OK[^]*localhost \/under\/x\?y/);
  assert.equal(host, upstream.replace("https://", ""));
});

test("a certificate that is not: no answer", async () => {
  assert.deepEqual(await asked({}), { text: "", ending: "end" });
});
