/** The command as a real process: what it prints, how it ends. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { recorded } from "./support/bodies.js";
import { tokenizerFile } from "./support/collector.js";
import { Command, relaying } from "./support/command.js";

const folder = mkdtempSync(join(tmpdir(), "token2text-command-"));
after(() => rmSync(folder, { recursive: true }));
const NAME = "token2text-collector";
const GOOD = ["--tokenizer", tokenizerFile, "--cache", "none"];

/** @param {string[]} args @param {Record<string, string>} [env] */
async function ran(args, env) {
  const command = new Command(args, { env });
  const status = await command.ended;
  return { status, stdout: command.stdout, stderr: command.stderr };
}

describe("without serving", () => {
  test("--version and --help, whatever else is wrong", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../collector/package.json", import.meta.url), "utf8"));
    assert.deepEqual(await ran(["--version", "--nonsense"]), { status: 0, stdout: `${version}\n`, stderr: "" });
    const { status, stdout, stderr } = await ran(["-h"]);
    assert.deepEqual([status, stderr], [0, ""]);
    assert.match(stdout, /^token2text-collector: /);
    assert.match(stdout, /--relay BACKEND=LISTEN,URL/);
  });

  test("wrong usage: every mistake, status 2", async () => {
    assert.deepEqual(await ran(["--sample", "2", "--wrkers", "1"], { TOKEN2TEXT_WORKERS: "x" }), {
      status: 2,
      stdout: "",
      stderr: [
        "--wrkers: there is no such option; did you mean `--workers`?",
        "--sample: `2` is not usable here; write a share above 0 and up to 1, such as 0.1 or 10%",
        "TOKEN2TEXT_WORKERS: `x` is not usable here; write a whole number from 1 to 256",
        "--tokenizer: there is none; write --tokenizer tokenizer.json, or --tokenizer 'Qwen/*=FILE' for some models only",
        "--relay: there is nothing to listen to; write --relay mlflow=5001,http://host:5000, or --receive 4318 with --export mlflow=http://host:5000",
        "`token2text-collector --help` lists the options",
      ].map((line) => `${NAME}: ${line}\n`).join(""),
    });
  });

  test("--check prints the configuration, and warns as a start does", async () => {
    const args = [...GOOD, "--relay", "mlflow=5001,http://host:5000", "--admin", "0.0.0.0:9464", "--check"];
    const { status, stdout, stderr } = await ran(args, { TOKEN2TEXT_SAMPLE: "10%" });
    assert.equal(status, 0);
    assert.match(stdout, /^sample: 0\.1 # TOKEN2TEXT_SAMPLE$/m);
    assert.equal(stderr, `${NAME}: warning: --admin: whoever reaches 0.0.0.0:9464 may use it; set TOKEN2TEXT_TOKEN or --token-file\n`);
  });

  test("a tokenizer that cannot be loaded: status 2, when checking and when starting", async () => {
    const broken = join(folder, "tokenizer.json");
    writeFileSync(broken, readFileSync(tokenizerFile).subarray(0, 100_000));
    for (const check of [["--check"], []]) {
      const { status, stdout, stderr } = await ran(["-t", broken, "--cache", "none", "--relay", "otlp=0,http://127.0.0.1:1", ...check]);
      assert.deepEqual([status, stdout], [2, ""]);
      assert.match(stderr, new RegExp(`^${NAME}: ${broken} `));
      assert.equal(stderr.split("\n").length, 2, "one line, no stack");
    }
  });

  test("an option that the exporter refuses: status 2, when checking and when starting", async () => {
    for (const check of [["--check"], []]) {
      const { status, stderr } = await ran([...GOOD, "--receive", "0", "--export", "mlflow=http://host,experiment=a,experiment-id=1", ...check]);
      assert.deepEqual([status, stderr], [2, `${NAME}: the export mlflow host: give either \`experiment\`, a name, or \`experimentId\`, not both\n`]);
    }
  });

  test("a port that another program has: status 1", async () => {
    const other = createServer();
    await once(other.listen(0, "127.0.0.1"), "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (other.address());
    const { status, stderr } = await ran([...GOOD, "--relay", "otlp=0,http://127.0.0.1:1", "--admin", `${port}`]);
    other.close();
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`^${NAME}: cannot listen on 127\\.0\\.0\\.1:${port}: another program listens there$`, "m"));
  });
});

describe("serving", () => {
  /** Requests to this backend wait until they are let go. @type {(() => void)[]} */
  let waiting = [];
  const backend = createServer((request, answer) => {
    request.resume();
    answer.writeHead(200, { "content-type": "text/plain" });
    answer.write("begun ");
    waiting.push(() => answer.end("done"));
    backend.emit("waiting");
  });
  let upstream = "";
  before(async () => {
    await once(backend.listen(0, "127.0.0.1"), "listening");
    upstream = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (backend.address()).port}`;
  });
  after(() => {
    backend.closeAllConnections();
    backend.close();
  });

  /** A request that the backend has begun to answer. @param {string} url */
  async function underWay(url) {
    waiting = [];
    const arrived = once(backend, "waiting");
    const response = fetch(`${url}/v1/other`, { method: "POST", body: "x" });
    response.catch(() => {});
    await arrived;
    return { response, finish: () => waiting.forEach((end) => end()) };
  }

  test("says what listens and what to set, on standard error only, without secrets", async () => {
    const more = ["--relay", "mlflow=0,http://host:5000", "--relay", "trackio=0,http://host:7860", "--relay", "weave=0,https://trace.wandb.ai/base"];
    const receive = ["--receive", "0", "--export", "otlp=http://me:hunter2@host:4318?key=hunter3,header.X-Key=hunter4", "--admin", "0"];
    const command = relaying(upstream, [...more, ...receive], { TOKEN2TEXT_TOKEN: "hunter5", TOKEN2TEXT_LOG_LEVEL: "debug", TOKEN2TEXT_SMAPLE: "1" });
    await command.url("admin");
    const said = Object.fromEntries(command.log.filter(({ msg }) => /^listens/.test(msg)).map(({ listener, address, msg, to }) => [listener, { address, set: msg.replace(/^listens(; set )?/, ""), to }]));
    const url = (/** @type {string} */ listener) => `http://${said[listener].address}`;
    const otlp = (/** @type {string} */ listener) => `OTEL_EXPORTER_OTLP_ENDPOINT=${url(listener)} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`;
    assert.deepEqual(Object.fromEntries(Object.entries(said).map(([name, { set, to }]) => [name, [set, to]])), {
      "relay otlp": [otlp("relay otlp"), upstream],
      "relay mlflow": [`MLFLOW_TRACKING_URI=${url("relay mlflow")}`, "http://host:5000"],
      "relay trackio": [`TRACKIO_SERVER_URL=${url("relay trackio")}`, "http://host:7860"],
      "relay weave": [`WF_TRACE_SERVER_URL=${url("relay weave")}`, "https://trace.wandb.ai/base"],
      receive: [otlp("receive"), "http://host:4318"],
      admin: ["", undefined],
    });
    assert.ok(command.log.some(({ level, msg }) => level === "warn" && msg === "TOKEN2TEXT_SMAPLE: there is no such option, it is ignored; did you mean `TOKEN2TEXT_SAMPLE`?"));
    command.signal("SIGTERM");
    assert.equal(await command.ended, 0);
    assert.equal(command.stdout, "");
    assert.doesNotMatch(command.stderr, /hunter/);
  });

  for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT"])) {
    test(`${signal}: what is under way ends, nothing new begins, status 0`, async () => {
      const command = relaying(upstream);
      const url = await command.url("relay otlp");
      const { response, finish } = await underWay(url);
      command.signal(signal);
      await command.said(({ msg }) => /^stopping/.test(msg));
      const { hostname, port } = new URL(url);
      const [refused] = await once(connect(Number(port), hostname), "error");
      // Reset: it came in between the signal and the end of listening.
      assert.match(refused.code, /^ECONN(REFUSED|RESET)$/);
      finish();
      assert.equal(await (await response).text(), "begun done");
      assert.equal(await command.ended, 0);
      assert.equal(command.log.at(-1)?.msg, "stopped");
    });
  }

  test("SIGTERM: what was received is exported and answered", async () => {
    /** @type {(() => void) | undefined} */
    let store;
    /** @type {Buffer[]} */
    const chunks = [];
    const sink = createServer(async (request, answer) => {
      for await (const chunk of request) chunks.push(chunk);
      store = () => answer.writeHead(200, { "content-type": "application/x-protobuf" }).end();
      sink.emit("waiting");
    });
    await once(sink.listen(0, "127.0.0.1"), "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (sink.address());
    const command = new Command([...GOOD, "--receive", "0", "--export", `otlp=http://127.0.0.1:${port}`]);
    const { body, contentType = "" } = recorded("js-proto-qwen3/01-v1-traces.pb");
    const arrived = once(sink, "waiting");
    const sent = fetch(`${await command.url("receive")}/v1/traces`, { method: "POST", body: new Uint8Array(body), headers: { "content-type": contentType } });
    await arrived;
    command.signal("SIGTERM");
    await command.said(({ msg }) => /^stopping/.test(msg));
    store?.();
    assert.equal((await sent).status, 200);
    assert.equal(await command.ended, 0);
    assert.ok(Buffer.concat(chunks).length > body.length, "with text");
    sink.close();
  });

  test("a client that keeps its connection open does not keep the process", async () => {
    const command = relaying(upstream);
    const { hostname, port } = new URL(await command.url("relay otlp"));
    const idle = connect(Number(port), hostname);
    await once(idle, "connect");
    command.signal("SIGTERM");
    assert.equal(await command.ended, 0);
    idle.destroy();
  });

  test("what does not end within --drain-timeout is cut, status 1", async () => {
    const command = relaying(upstream, ["--drain-timeout", "200ms"]);
    const { response } = await underWay(await command.url("relay otlp"));
    command.signal("SIGTERM");
    assert.equal(await command.ended, 1);
    await assert.rejects(response.then((answer) => answer.text()));
    assert.equal(command.log.at(-1)?.msg, "stopped with requests under way");
  });

  test("a second signal ends it at once", async () => {
    const command = relaying(upstream);
    await underWay(await command.url("relay otlp"));
    command.signal("SIGTERM");
    await command.said(({ msg }) => /^stopping/.test(msg));
    command.signal("SIGINT");
    assert.equal(await command.ended, 130);
  });

  test("a signal while it starts ends it cleanly", async () => {
    const command = relaying(upstream, [], { TOKEN2TEXT_SMAPLE: "1" });
    await command.said(({ level }) => level === "warn");
    command.signal("SIGTERM");
    assert.equal(await command.ended, 0);
  });
});
