/** Where tokenizers and traces come from, and what is said when they cannot be read. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Tokenizer } from "../../pkg/node.js";
import { token2text } from "../js/support/cli.js";
import { listening } from "../js/support/server.js";
import { byteIds, byteLevel, chatMl } from "../js/support/tokenizers.js";
import { callRecord, fixture, jsonLines, temporaryFolder, tokenizerOf } from "./support/fixtures.js";
import { drop, openRollout, rowsOf, waitForRollouts, withFiles, withViewer } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const { folder, write } = temporaryFolder();
const QWEN = tokenizerOf("qwen3");
const PLANTED = fixture("rollouts/planted.jsonl");
const SMALL = write("small/tokenizer.json", chatMl());
const HELLO = write("small/hello.jsonl", jsonLines([callRecord({ prompt: byteIds("Say hello. "), response: byteIds("Hello, world!") })]));

/** A server of another origin, which lets pages ask it. It sends a large trace in pieces, and waits before the last. */
let other = "";
/** @type {(() => void)[]} */
const held = [];
const server = createServer((request, response) => {
  response.setHeader("access-control-allow-origin", "*");
  if (request.url === "/held.jsonl") {
    response.setHeader("content-length", 1_000_000);
    response.write(readFileSync(PLANTED));
    held.push(() => response.destroy());
  } else if (request.url === "/hello.jsonl") response.end(readFileSync(HELLO));
  else if (request.url === "/tokenizer.json") response.end(readFileSync(SMALL));
  else response.writeHead(404).end("nothing");
});
listening(server, (url) => (other = url));

/** @param {Page} page */
const chat = (page) => page.locator("t2t-chat");

test("files are dropped on the page: a tokenizer and traces at once", async () => {
  await withViewer({}, async (page) => {
    await drop(page, [SMALL, HELLO]);
    await waitForRollouts(page, 1);
    await openRollout(page);
    await chat(page).getByText("Hello, world!").waitFor();
  });
});

test("a folder is dropped: what is neither tokenizer nor trace is passed over", async () => {
  write("folder/run/notes.md", "# notes");
  write("folder/run/config.json", "{}");
  write("folder/run/tokenizer.json", chatMl());
  write("folder/run/deep/er/hello.jsonl", readFileSync(HELLO));
  await withViewer({}, async (page) => {
    await drop(page, [`${folder}/folder`]);
    await waitForRollouts(page, 1);
    await openRollout(page);
    await chat(page).getByText("Hello, world!").waitFor();
    assert.equal(await page.getByRole("button", { name: /problem/ }).count(), 0);
  });
});

test("files and folders are picked", async () => {
  await withViewer({}, async (page) => {
    const picked = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose files" }).click();
    await (await picked).setFiles([SMALL]);
    await page.getByText("260 tokens").waitFor();
    const folderPicked = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose a folder" }).click();
    await (await folderPicked).setFiles(`${folder}/small`);
    await page.getByText("1 rollout").first().waitFor();
    // A second tokenizer asks which models it is for.
    await page.locator(".undecided").getByRole("button", { name: "Leave out" }).click();
    await page.getByRole("button", { name: "Show the rollouts" }).click();
    await openRollout(page);
    await chat(page).getByText("Hello, world!").waitFor();
  });
});

test("gzip and packed tokenizers", async () => {
  const tokenizer = await Tokenizer.load(readFileSync(SMALL));
  const packed = write("packed/tokenizer.t2t", tokenizer.pack());
  const zipped = write("zipped/tokenizer.json.gz", gzipSync(readFileSync(SMALL)));
  const trace = write("zipped/hello.jsonl.gz", gzipSync(readFileSync(HELLO)));
  for (const file of [packed, zipped]) {
    await withViewer({}, async (page) => {
      await drop(page, [file, trace]);
      await waitForRollouts(page, 1);
      await openRollout(page);
      await chat(page).getByText("Hello, world!").waitFor();
    });
  }
});

test("the traces are saved with their texts, as the command line writes them", async () => {
  const calls = fixture("captures/verl-calls-qwen3/calls.jsonl");
  const { status, stdout, stderr } = await token2text(["enrich", calls, "--tokenizer", QWEN]);
  assert.equal(status, 0, stderr);
  await withFiles(["-t", QWEN, calls], async (page) => {
    await waitForRollouts(page, 2);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download with texts" }).click();
    const download = await saved;
    assert.equal(download.suggestedFilename(), "calls.text.jsonl");
    const path = `${folder}/saved.jsonl`;
    await download.saveAs(path);
    assert.equal(readFileSync(path, "utf8"), String(stdout));
  });
});

/** A capture of each format: its file, its tokenizer, and words that the reference decodes from its ids. */
const FORMATS = [
  ["JSON lines of verl", "captures/verl-calls-qwen3/calls.jsonl", "qwen3"],
  ["OTLP protobuf", "wire/mlflow/verl-qwen3-ids/02-v1-traces.pb", "qwen3"],
  ["MLflow's stored spans", "wire/mlflow/verl-qwen3-ids/15-get-trace-artifact.json", "qwen3"],
  ["MLflow's traces/get", "wire/mlflow/verl-qwen3-ids/16-traces-get.json", "qwen3"],
  ["Trackio", "captures/trackio-verl-qwen3-ids/01-bulk-log.json", "qwen3"],
  ["Weave", "captures/weave-python-verl-qwen3-ids/01-calls-complete.json", "qwen3"],
  ["Weave's stream", "captures/weave-js-agent-llama3_1/05-stream-query.jsonl", "llama3_1"],
  ["vLLM's chat", "captures/vllm-chat-qwen3/response.json", "qwen3"],
  ["a stream of events", "captures/vllm-chat-stream-n2/response.sse", "qwen3"],
  ["TRL", "captures/trl-vllm-serve/generate.json", "qwen3"],
];
for (const [name, file, tokenizer] of FORMATS) {
  test(`a trace of ${name}`, async () => {
    await withFiles(["-t", tokenizerOf(tokenizer), fixture(file)], async (page) => {
      await rowsOf(page).first().waitFor();
      await openRollout(page);
      await chat(page).locator(".content").first().waitFor();
      const shown = (await chat(page).locator(".content").allInnerTexts()).join("").trim();
      assert.ok(shown.length > 10, shown);
    });
  });
}

test("addresses in the page's own: ?tokenizer=&trace=, also of another origin, with patterns", async () => {
  const query = new URLSearchParams([["tokenizer", `*=${other}/tokenizer.json`], ["trace", `${other}/hello.jsonl`]]);
  await withFiles([], async (page, { url }) => {
    await page.goto(`${url}?${query}`);
    await waitForRollouts(page, 1);
    await openRollout(page);
    await chat(page).getByText("Hello, world!").waitFor();
  }, { origins: [other] });
});

test("an address typed into the form", async () => {
  await withViewer({ origins: [other] }, async (page) => {
    await page.getByRole("tab", { name: "Address" }).click();
    for (const path of ["tokenizer.json", "hello.jsonl"]) {
      await page.getByLabel("URL").fill(`${other}/${path}`);
      await page.locator("t2t-server-form").getByRole("button", { name: "Open" }).click();
    }
    await waitForRollouts(page, 1);
  });
});

test("what is loaded tells its bytes, and is cancelled", async () => {
  await withViewer({ origins: [other] }, async (page) => {
    await drop(page, [QWEN]);
    await page.getByText("151,669 tokens").waitFor();
    await page.getByRole("tab", { name: "Address" }).click();
    await page.getByLabel("URL").fill(`${other}/held.jsonl`);
    await page.locator("t2t-server-form").getByRole("button", { name: "Open" }).click();
    // The first rollouts are there before the last byte is.
    const progress = page.getByRole("progressbar", { name: /held\.jsonl/ });
    await progress.waitFor();
    for (let [done, total] = [0, 0]; done < 1000; ) {
      [done, total] = await progress.evaluate((bar) => [/** @type {HTMLProgressElement} */ (bar).value, /** @type {HTMLProgressElement} */ (bar).max]);
      assert.ok(done < 1000 || total === 1_000_000, `${done} of ${total}`);
    }
    await page.getByRole("button", { name: "Cancel" }).first().click();
    await progress.waitFor({ state: "detached" });
    for (const end of held) end();
  });
});

test("errors stand in words beside what failed", async () => {
  const broken = write("broken/tokenizer.json", '{"version":"1.0","model":{"type":"BPE","vocab":{"a":');
  const nonsense = write("nonsense.jsonl", "this is no JSON\n");
  await withViewer({ origins: [other], expected: /404/ }, async (page) => {
    await drop(page, [broken]);
    const tokenizers = page.getByRole("region", { name: "Tokenizers", exact: true });
    await tokenizers.getByRole("alert").waitFor();
    assert.match(await tokenizers.innerText(), /tokenizer\.json/);
    assert.match(await tokenizers.getByRole("alert").innerText(), /\w+ \w+ \w+/);
    await drop(page, [nonsense]);
    const traces = page.getByRole("region", { name: "Traces" });
    await traces.getByRole("alert").first().waitFor();
    assert.match(await traces.innerText(), /nonsense\.jsonl/);
    await page.getByRole("tab", { name: "Address" }).click();
    await page.getByLabel("URL").fill(`${other}/nothing.jsonl`);
    await page.locator("t2t-server-form").getByRole("button", { name: "Open" }).click();
    await traces.getByRole("alert").filter({ hasText: "404" }).waitFor();
  });
});

test("lines that cannot be read are counted, the others are shown", async () => {
  await withFiles(["-t", tokenizerOf("llama2"), fixture("captures/edge-broken-lines/calls.jsonl")], async (page) => {
    await rowsOf(page).first().waitFor();
    await page.getByRole("button", { name: /\d+ problems?/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("invalid_body").first().waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  });
});

test("without a tokenizer the ids are shown, and what is missing is said", async () => {
  await withFiles([HELLO], async (page) => {
    await page.getByText("1 rollout").first().waitFor();
    await page.getByRole("button", { name: "Show the rollouts" }).click();
    await openRollout(page);
    await page.locator("t2t-rollout-header").getByText("no tokenizer").waitFor();
    await chat(page).getByText("there is no text").waitFor();
  });
});

/** What a browser keeps of the page. @param {Page} page */
const stored = (page) =>
  page.evaluate(async () => ({
    databases: (await indexedDB.databases()).map(({ name }) => name),
    local: Object.keys(localStorage),
    session: Object.keys(sessionStorage),
    caches: await caches.keys(),
    cookies: document.cookie,
  }));

test("nothing is stored before somebody asks for it; then tokenizers are kept, used again, and forgotten", async () => {
  await withViewer({}, async (page) => {
    await drop(page, [SMALL, HELLO]);
    await waitForRollouts(page, 1);
    const { databases, ...rest } = await stored(page);
    assert.deepEqual(rest, { local: [], session: [], caches: [], cookies: "" });
    const entries = await page.evaluate(async (names) => {
      let sum = 0;
      for (const name of names) {
        const database = await new Promise((/** @type {(database: IDBDatabase) => void} */ resolve, reject) => {
          const request = indexedDB.open(/** @type {string} */ (name));
          request.onsuccess = () => resolve(request.result);
          request.onerror = () => reject(request.error);
        });
        for (const store of database.objectStoreNames) {
          sum += await new Promise((/** @type {(count: number) => void} */ resolve) => {
            const request = database.transaction(store).objectStore(store).count();
            request.onsuccess = () => resolve(request.result);
          });
        }
        database.close();
      }
      return sum;
    }, databases);
    assert.equal(entries, 0, "entries in databases");

    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByLabel("Keep this tokenizer in this browser").check();
    const picked = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Choose files" }).click();
    await (await picked).setFiles([write("kept/mine/tokenizer.json", byteLevel())]);
    await page.locator(".undecided").getByRole("button", { name: "Load", exact: true }).click();
    const recent = page.getByRole("region", { name: "Recent tokenizers" });
    // The rollouts are shown again, with it.
    await rowsOf(page).first().waitFor();
    await page.getByRole("button", { name: "Open", exact: true }).click();
    await recent.locator("li").waitFor();

    await page.reload();
    await recent.locator("li button").click();
    await page.getByText("258 tokens").waitFor();
    await drop(page, [HELLO]);
    await waitForRollouts(page, 1);
    await openRollout(page);
    await chat(page).getByText("Hello, world!").first().waitFor();

    await page.getByRole("button", { name: "Open", exact: true }).click();
    await page.getByRole("button", { name: "Forget all" }).click();
    await recent.getByText("None are kept.").waitFor();
    await page.reload();
    await recent.getByText("None are kept.").waitFor();
  });
});

test("Try it", async () => {
  await withViewer({}, async (page) => {
    await page.getByRole("button", { name: "Try it with a sample" }).click();
    await rowsOf(page).nth(3).waitFor();
    await openRollout(page);
    await chat(page).locator(".message").nth(1).waitFor();
  });
});

test("further traces beside those that are open, or in their place", async () => {
  await withFiles(["-t", QWEN, PLANTED], async (page) => {
    await waitForRollouts(page, 4);
    await page.keyboard.press("o");
    await page.getByLabel("Open further traces beside these").check();
    await drop(page, [fixture("captures/verl-calls-qwen3/calls.jsonl")]);
    await page.getByText("6 rollouts").first().waitFor();
    await page.getByRole("button", { name: "Show the rollouts" }).click();
    await waitForRollouts(page, 6);
    await page.keyboard.press("o");
    await page.getByLabel("Open further traces beside these").uncheck();
    await drop(page, [fixture("captures/verl-calls-qwen3/calls.jsonl")]);
    await waitForRollouts(page, 2);
  });
});
