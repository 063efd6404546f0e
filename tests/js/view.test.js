/** `token2text view`: what its server gives out, and to whom; what its folder holds. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { VIEWER_POLICY, viewerFiles } from "../../pkg/viewer-files.js";
import { CLI, token2text } from "./support/cli.js";
import { byteLevel, jsonBytes } from "./support/tokenizers.js";

const folder = mkdtempSync(join(tmpdir(), "token2text-"));
after(() => rmSync(folder, { recursive: true }));
const tokenizer = join(folder, "tok #1.json");
const trace = join(folder, "calls.jsonl");
const secret = join(folder, "secret.txt");
writeFileSync(tokenizer, jsonBytes(byteLevel()));
writeFileSync(trace, '{"output":{"response_ids":[72,105]}}\n');
writeFileSync(secret, "secret");

/** @param {string[]} args @param {Record<string, string>} [env] */
async function started(args, env) {
  const child = spawn("node", [CLI, "view", ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (printed += text));
  while (!printed.includes("Ctrl-C")) {
    if (child.exitCode !== null) throw new Error(printed);
    await Promise.race([once(child.stderr, "data"), once(child, "exit")]);
  }
  const lines = printed.split("\n");
  return { url: lines[0], base: new URL("/", lines[0]).href, lines, port: Number(new URL(lines[0]).port), stop: () => (child.kill(), once(child, "exit")) };
}

/** With any header, `Host` too, which fetch forbids, and with a path as it is. @param {number} port @param {string} path @param {Record<string, string>} [headers] */
async function ask(port, path, headers = {}, method = "GET") {
  const sent = request({ host: "127.0.0.1", port, path, headers, method, agent: false }).end();
  const [response] = await once(sent, "response");
  const body = Buffer.concat(await response.toArray());
  return { status: response.statusCode, headers: response.headers, body };
}

describe("the server", () => {
  /** @type {Awaited<ReturnType<typeof started>>} */
  let server;
  before(async () => {
    server = await started([trace, "https://traces.example/a b.jsonl", "--tokenizer", `Qwen/*=${tokenizer}`, "--port", "0"]);
  });
  after(() => server.stop());

  test("prints the address of the page with its files", async () => {
    const { searchParams } = new URL(server.url);
    const [pattern, address] = searchParams.get("tokenizer")?.split("=") ?? [];
    assert.equal(pattern, "Qwen/*");
    const [own, other] = searchParams.getAll("trace");
    assert.equal(other, "https://traces.example/a b.jsonl");
    assert.deepEqual(Buffer.from(await (await fetch(new URL(address, server.url))).arrayBuffer()), readFileSync(tokenizer));
    assert.equal(await (await fetch(new URL(own, server.url))).text(), readFileSync(trace, "utf8"));
  });

  test("gives out all that the page is made of", async () => {
    for (const [name, { path, type }] of viewerFiles()) {
      const { status, headers, body } = await ask(server.port, `/${name}`);
      assert.deepEqual([status, headers["content-type"], headers["content-security-policy"]], [200, type, VIEWER_POLICY], name);
      assert.deepEqual(body, readFileSync(path), name);
    }
    assert.deepEqual((await ask(server.port, "/")).body, readFileSync(viewerFiles().get("viewer.html")?.path ?? ""));
  });

  test("gives out nothing else", async () => {
    const paths = ["/package.json", "/../package.json", "/cli/view.js", "/given/1/../../package.json", "/given/1/secret.txt", "/given/1/%2e%2e%2fsecret.txt", "/given/", `/${secret}`, "//etc/passwd", "/%zz", "/given/1/calls.jsonl/", "/__proto__/x", "/constructor/x"];
    for (const path of paths) assert.equal((await ask(server.port, path)).status, 404, path);
  });

  test("takes files for data, whatever they are called", async () => {
    const page = join(folder, "page.html");
    writeFileSync(page, "<script>alert(1)</script>");
    const other = await started([page, "--port", "0"]);
    const { headers } = await ask(other.port, "/given/1/page.html");
    await other.stop();
    assert.equal(headers["content-type"], "application/octet-stream");
    assert.equal(headers["x-content-type-options"], "nosniff");
    assert.match(String(headers["content-security-policy"]), /^default-src 'none'; sandbox;/);
  });

  test("answers to names of this machine only", async () => {
    for (const host of ["127.0.0.1", `127.0.0.1:${server.port}`, "localhost:9", "LOCALHOST", "[::1]:1"]) assert.equal((await ask(server.port, "/", { host })).status, 200, host);
    for (const host of ["rebound.example", "127.0.0.1.rebound.example", "localhost.rebound.example", "127.0.0.1@rebound.example", "10.0.0.1", "::1"]) {
      assert.equal((await ask(server.port, "/", { host })).status, 403, host);
    }
    assert.equal((await ask(server.port, "/given/1/calls.jsonl", { host: `localhost:${server.port}`, origin: "https://evil.example" })).status, 403);
    assert.equal((await ask(server.port, "/given/1/calls.jsonl", { host: "localhost", origin: "null" })).status, 403);
    assert.equal((await ask(server.port, "/given/1/calls.jsonl", { host: "localhost:1", origin: "http://localhost:1" })).status, 200);
  });

  test("does not listen to other machines", async () => {
    const socket = connect({ host: "::1", port: server.port });
    const [event] = await Promise.race([once(socket, "error"), once(socket, "connect").then(() => ["connected"])]);
    assert.notEqual(event, "connected");
  });

  test("is asked, not written to", async () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) assert.equal((await ask(server.port, "/", {}, method)).status, 405, method);
    const { status, body, headers } = await ask(server.port, "/given/1/calls.jsonl", {}, "HEAD");
    assert.deepEqual([status, body.length, headers["content-length"]], [200, 0, String(readFileSync(trace).length)]);
    const { headers: first } = await ask(server.port, "/viewer.js");
    assert.equal((await ask(server.port, "/viewer.js", { "if-none-match": String(first.etag) })).status, 304);
  });

  test("a file that went away is told", async () => {
    const gone = join(folder, "gone.jsonl");
    writeFileSync(gone, "{}\n");
    const other = await started([gone, "--port", "0"]);
    rmSync(gone);
    assert.equal((await ask(other.port, "/given/1/gone.jsonl")).status, 404);
    await other.stop();
  });
});

test("backends are read through the server, and nothing is written", async () => {
  /** @type {{ method?: string, url?: string, authorization?: string, cookie?: string }[]} */
  const asked = [];
  const backend = createServer(({ method, url, headers: { authorization, cookie } }, answer) => {
    asked.push({ method, url, authorization, cookie });
    answer.writeHead(url?.includes("broken") ? 500 : 200, { "content-type": "text/html", "set-cookie": "a=1" }).end("<b>answer</b>");
  });
  await once(backend.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (backend.address());
  const server = await started(["--mlflow", `http://127.0.0.1:${port}/prefix`, "--trackio", `http://127.0.0.1:${port}`, "--port", "0"], { MLFLOW_TRACKING_TOKEN: "s3cret" });
  try {
    assert.deepEqual(server.lines.slice(1, 3), [`MLflow, to be opened in the page: ${server.base}mlflow`, `Trackio, to be opened in the page: ${server.base}trackio`]);
    const read = await ask(server.port, "/mlflow/api/3.0/mlflow/traces/tr-1?x=1", { cookie: "mine=1" });
    assert.deepEqual([read.status, String(read.body), read.headers["set-cookie"]], [200, "<b>answer</b>", undefined]);
    assert.match(String(read.headers["content-security-policy"]), /sandbox/);
    assert.deepEqual(asked[0], { method: "GET", url: "/prefix/api/3.0/mlflow/traces/tr-1?x=1", authorization: "Bearer s3cret", cookie: undefined });
    assert.equal((await ask(server.port, "/trackio/api/get_traces", {}, "POST")).status, 200);
    assert.deepEqual([asked[1].url, asked[1].authorization], ["/api/get_traces", undefined]);
    assert.equal((await ask(server.port, "/mlflow/api/3.0/mlflow/traces/broken")).status, 500);
    asked.length = 0;
    const refused = [
      ["POST", "/trackio/api/bulk_log"],
      ["POST", "/trackio/api/delete_run"],
      ["GET", "/trackio/api/get_traces"],
      ["POST", "/mlflow/api/3.0/mlflow/traces"],
      ["DELETE", "/mlflow/api/3.0/mlflow/traces/tr-1"],
      ["GET", "/mlflow/api/3.0/mlflow/traces/%2e%2e%2fx"],
      ["GET", "/mlflow/"],
    ];
    for (const [method, path] of refused) assert.equal((await ask(server.port, path, {}, method)).status, 403, path);
    assert.deepEqual(asked, []);
  } finally {
    await server.stop();
    backend.close();
  }
});

test("wrong usage is told", async () => {
  const taken = createServer();
  await once(taken.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (taken.address());
  /** @type {[string[], RegExp][]} */
  const cases = [
    [["--port", String(port)], /the port \d+ is taken/],
    [["--port", "70000"], /--port must be at most 65535/],
    [[join(folder, "nothing.jsonl")], /there is no file/],
    [[folder], /is a folder; name its files/],
    [["--mlflow", "mlruns.db"], /--mlflow must be the address of a server/],
    [["--export", join(folder, "x"), "--port", "1"], /serves nothing/],
    [["--export", folder], /has other files; name a new folder/],
    [["--export", trace], /cannot write into/],
  ];
  for (const [args, words] of cases) {
    const { status, stderr } = await token2text(["view", ...args]);
    assert.equal(status, 2, stderr);
    assert.match(stderr, words);
  }
  taken.close();
});

test("a file that is named as tokenizers are is one", async () => {
  const named = join(folder, "tokenizer.json");
  copyFileSync(tokenizer, named);
  const server = await started([named, trace, "--port", "0"]);
  await server.stop();
  const { searchParams } = new URL(server.url);
  assert.deepEqual([...searchParams].map(([name, address]) => [name, basename(address)]), [["tokenizer", basename(named)], ["trace", basename(trace)]]);
});

test("the folder holds the page and all that it needs", async () => {
  const target = join(folder, "new/page");
  const { status, stdout, stderr } = await token2text(["view", trace, "--tokenizer", tokenizer, "--export", target]);
  assert.equal(status, 0, stderr);
  const [, address] = /the page is (index\.html\?.*)\n/.exec(String(stdout)) ?? [];
  const { searchParams } = new URL(address, "http://x/");
  for (const [name, from] of [["tokenizer", tokenizer], ["trace", trace]]) {
    const path = decodeURIComponent(searchParams.get(name) ?? "");
    assert.deepEqual(readFileSync(join(target, path)), readFileSync(from), path);
  }
  const written = readdirSync(target, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.equal(written.length, viewerFiles().size + 2);
  for (const [name, { path }] of viewerFiles()) {
    const place = name === "viewer.html" ? "index.html" : name.startsWith("sample/") ? name : `token2text/${name}`;
    if (place !== "index.html") assert.deepEqual(readFileSync(join(target, place)), readFileSync(path), name);
  }
  const page = readFileSync(join(target, "index.html"), "utf8");
  for (const [, address] of page.matchAll(/(?:src|href)="(\.[^"]+)"/g)) assert.ok(existsSync(join(target, address)), address);
  assert.match(page, /src="\.\/token2text\/viewer\.js"/);
  // Again, over what is there.
  assert.equal((await token2text(["view", "--export", target])).status, 0);
});

test("what modules name is in the list of files", () => {
  const files = viewerFiles();
  for (const [name, { path }] of files) {
    if (!name.endsWith(".js")) continue;
    const source = readFileSync(path, "utf8").replaceAll(/\/\*.*?\*\//gs, "");
    for (const [, named] of source.matchAll(/(?:from|import|import\(|new URL\()\s*"(\.[^"]+)"/g)) {
      const target = new URL(named, `http://x/${name}`).pathname.slice(1);
      assert.ok(files.has(target), `${name} names ${target}`);
    }
  }
  for (const name of ["slim_bg.wasm", "reader_bg.wasm", "spans_bg.wasm", "general_bg.wasm", "exporters/mlflow-reader.js", "sample/rollouts.jsonl"]) assert.ok(files.has(name), name);
});

test("the sample is what its script writes", () => {
  execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/sample.js", import.meta.url)), "--check"]);
});
