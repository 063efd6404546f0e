/** The page of a collector with a store: rollouts are seen as they are received, and what somebody looks at stays where it is. */
import { AxeBuilder } from "@axe-core/playwright";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { OtlpExporter } from "../../pkg/exporters/otlp-node.js";
import { recordedRollouts } from "../../scripts/recorded-rollouts.js";
import { Command } from "../collector/support/command.js";
import { sendByJs } from "../collector/support/otel.js";
import { OPEN, byteIds, chatMl } from "../js/support/tokenizers.js";
import { ROOT, temporaryFolder, tokenizerOf } from "./support/fixtures.js";
import { callRows, says, shownCalls } from "./support/shown.js";
import { openRollout, openTab, rowsOf, waitForRollouts, withViewer } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("../../pkg/write.js").SpanInput} SpanInput */

const { folder, write } = temporaryFolder();
const BYTES = write("tokenizer.json", chatMl());
const CLOSE = OPEN + 1;
const TOKEN = "a-token-of-the-tests";
/** @type {{ capture: string, calls: import("./support/shown.js").Call[] }[]} */
const EXPECTED = JSON.parse(readFileSync(join(ROOT, "tests/oracle/viewer.json"), "utf8"));
/** What the product promises is a second; a machine that tests is busy. */
const SOON_MILLIS = 10_000;
/** What browsers say of a server that is not there. */
const LOST = /ERR_(CONNECTION|EMPTY|INCOMPLETE|SOCKET)|Failed to load/;

/** @param {string} name @param {string[]} more */
const collector = (name, more) => new Command(["--cache", "none", "--workers", "1", "--store", join(folder, `${name}.db`), ...more]);
/** @type {Command[]} */
const commands = [];
/** With Qwen3's tokenizer. */
let qwen = "";
/** With a tokenizer of bytes; pages of elsewhere may read it. */
let small = "";
before(async () => {
  commands.push(collector("qwen", ["--tokenizer", tokenizerOf("qwen3"), "--receive", "0"]));
  commands.push(collector("small", ["--tokenizer", BYTES, "--receive", "0", "--allow-origin", "*"]));
  [qwen, small] = await Promise.all(commands.map((command) => command.url("receive")));
});
after(async () => {
  for (const command of commands) command.signal("SIGTERM");
  await Promise.all(commands.map(({ ended }) => ended));
});

/** Sends spans, and waits until they are acknowledged. @param {string} url @param {readonly SpanInput[]} spans @param {Record<string, string>} [headers] */
async function send(url, spans, headers) {
  const result = await new OtlpExporter({ url: `${url}/v1/traces`, headers }).export([...spans]);
  assert.equal(result.status, "success", JSON.stringify(result));
}

/** @param {string} role @param {string} text */
const message = (role, text) => [OPEN, ...byteIds(`${role}\n${text}`), CLOSE, ...byteIds("\n")];

let traces = 0;
/**
 * A rollout of as many turns as there are answers, a span for each.
 *
 * @param {string[]} answers
 * @param {{ step?: number }} [facts]
 * @returns {SpanInput[]}
 */
function rollout(answers, { step = 1 } = {}) {
  const number = ++traces;
  const traceId = number.toString(16).padStart(32, "0");
  /** @type {number[]} */
  const ids = [];
  return answers.map((answer, turn) => {
    ids.push(...message("user", `Question ${turn + 1}`), OPEN, ...byteIds("assistant\n"));
    const prompt = [...ids];
    const response = [...byteIds(answer), CLOSE];
    ids.push(...response, ...byteIds("\n"));
    return {
      traceId,
      spanId: `${number}${turn}`.padStart(16, "0"),
      parentId: "e".repeat(16),
      name: "LLMServerClient.generate",
      startUnixNano: `17${number.toString().padStart(8, "0")}${turn}00000000`,
      endUnixNano: `17${number.toString().padStart(8, "0")}${turn}50000000`,
      inputs: JSON.stringify({ request_id: `${number}`, prompt_ids: prompt }),
      output: JSON.stringify({ token_ids: response }),
      step,
      sampleIndex: number,
      rolloutN: 0,
    };
  });
}

/** In the dark nothing but colours is another. @param {Page} page @param {string} state @param {boolean} [onlyColours] */
async function assertAccessible(page, state, onlyColours) {
  const axe = new AxeBuilder({ page });
  const { violations } = await (onlyColours ? axe.withRules(["color-contrast"]) : axe).analyze();
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`), [], state);
}

/** Looked at by a person: `SHOTS=FOLDER`. @param {Page} page @param {string} name */
async function shoot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
}

test("rollouts that OTLP clients send are there within a moment, turn by turn, with the texts of the reference", async (t) => {
  const [{ calls }] = EXPECTED.filter(({ capture }) => capture === "verl-calls-qwen3");
  await withViewer({ url: `${qwen}/`, context: { viewport: { width: 1280, height: 3000 } } }, async (page) => {
    await page.getByText("Waiting for the first rollouts").waitFor();
    await page.getByText(`OTEL_EXPORTER_OTLP_ENDPOINT=${qwen}`).first().waitFor();
    const [first, second] = await recordedRollouts("verl-calls-qwen3");
    await send(qwen, [first[0]]);
    await openRollout(page);
    await page.locator("t2t-chat .message").first().waitFor();
    /** @type {number[]} */
    const millis = [];
    for (const span of first.slice(1)) {
      const count = await callRows(page).count();
      await send(qwen, [span]);
      const start = performance.now();
      await callRows(page).nth(count).waitFor({ timeout: SOON_MILLIS });
      millis.push(Math.round(performance.now() - start));
    }
    t.diagnostic(`milliseconds from the acknowledgement until a call is seen: ${millis.join(", ")}`);
    await page.locator("t2t-chat", { hasText: "Turn 3" }).waitFor();
    await send(qwen, second);
    await waitForRollouts(page, 2);
    const found = new Set();
    for (const row of [0, 1]) {
      await openRollout(page, row);
      await openTab(page, "Text");
      for (const shown of await shownCalls(page, "t2t-text")) for (const { line } of calls.filter((one) => says(shown, one))) found.add(line);
    }
    assert.deepEqual(calls.filter(({ line }) => !found.has(line)), []);
    for (const kind of /** @type {const} */ (["json", "proto"])) {
      const { isSent } = await sendByJs(kind, qwen, JSON.stringify({ token_ids: [9707, 11, 1879, 0] }), { gzip: kind === "proto" });
      assert.ok(isSent);
    }
    await waitForRollouts(page, 4);
    await openRollout(page, 3);
    await page.locator("t2t-text", { hasText: "Hello, world!" }).waitFor();
  });
});

test("selection, filter, order, place and tab stay while rollouts come and grow", async () => {
  const first = Array.from({ length: 60 }, (_, at) => rollout([`An answer${" that goes on".repeat(at)}`]));
  const growing = rollout([`It grows. ${"A zebra.\n".repeat(40)}`, "It has grown, zebra."]);
  await send(small, [...first.flat(), growing[0]]);
  await withViewer({ url: `${small}/`, context: { viewport: { width: 1280, height: 700 } } }, async (page) => {
    await waitForRollouts(page, 61);
    const list = page.locator("t2t-list");
    await list.getByRole("searchbox", { name: "Filter rollouts" }).fill("step 1");
    await list.getByRole("button", { name: /^Tokens/ }).click();
    await list.locator("[role=columnheader][aria-sort=descending]").waitFor();
    await page.getByRole("searchbox", { name: "Search" }).fill("zebra");
    const hits = page.getByRole("tab", { name: /^Hits/ });
    await page.getByRole("tab", { name: "Hits 40" }).waitFor();
    await page.getByRole("tab", { name: "Rollouts" }).click();
    const name = `${growing[0].sampleIndex}`;
    await list.locator(".grid").evaluate((grid) => (grid.scrollTop = 20 * 28 + 9));
    await shoot(page, "list-before");
    await rowsOf(page).filter({ has: page.getByRole("gridcell", { name, exact: true }) }).click();
    await openTab(page, "Text");
    const inSight = () =>
      list.locator(".grid").evaluate((grid) => {
        const head = /** @type {HTMLElement} */ (grid.querySelector(".head")).getBoundingClientRect().bottom;
        const rows = /** @type {HTMLElement[]} */ ([...grid.querySelectorAll("[data-line]")]);
        const seen = rows.filter((row) => row.getBoundingClientRect().top >= head && row.getBoundingClientRect().bottom < grid.getBoundingClientRect().bottom);
        return seen.slice(0, 8).map((row) => `${Math.round(row.getBoundingClientRect().top)} ${row.innerText.replace(/\s+/g, " ")}`);
      });
    await page.locator("t2t-list .status progress").waitFor({ state: "detached" });
    const before = { rows: await inSight(), hash: await page.evaluate(() => location.hash) };
    // Longer than all others: they are sorted to the top.
    const longer = Array.from({ length: 5 }, () => rollout([`The longest.${" It goes on and on.".repeat(80)}`]));
    await send(small, longer.flat());
    await send(small, rollout(["Of another step."], { step: 2 }));
    await list.locator(".status", { hasText: "66 of 67 rollouts" }).waitFor({ timeout: SOON_MILLIS });
    await list.getByRole("button", { name: "↑ 5 new" }).waitFor();
    assert.deepEqual(await inSight(), before.rows);
    await assertAccessible(page, "rows out of sight");
    await shoot(page, "list");
    // What is read stays; the conversation goes on.
    const which = page.locator("t2t-rollout-view .which");
    assert.equal(await which.innerText(), "turn 1");
    await page.locator("t2t-text .scroller").evaluate((scroller) => (scroller.scrollTop = 60));
    await send(small, [growing[1]]);
    await callRows(page).nth(1).waitFor({ timeout: SOON_MILLIS });
    await page.getByRole("tab", { name: "Hits 41" }).waitFor();
    await page.waitForTimeout(300);
    assert.equal(await which.innerText(), "turn 1");
    assert.equal(await page.locator("t2t-text .scroller").evaluate((scroller) => scroller.scrollTop), 60);
    assert.equal(await page.evaluate(() => location.hash), before.hash);
    assert.equal(await hits.getAttribute("aria-selected"), "false");
    await openTab(page, "Chat");
    await page.getByRole("group", { name: "Conversation up to turn 2" }).waitFor();
    await list.getByRole("button", { name: "↑ 5 new" }).click();
    await list.getByRole("button", { name: "↑ 5 new" }).waitFor({ state: "detached" });
    assert.match(await rowsOf(page).first().innerText(), new RegExp(`^1\\s+(${longer.map(([{ sampleIndex }]) => sampleIndex).join("|")})\\s`));
  });
});

test("a page of elsewhere opens a collector by its address; paused, it stays as it is until it goes on", async () => {
  await send(small, [...rollout(["One."]), ...rollout(["Two."])]);
  await withViewer({ origins: [small] }, async (page) => {
    await page.getByRole("tab", { name: "Collector" }).click();
    const form = page.locator("t2t-server-form");
    await assertAccessible(page, "the form");
    await form.getByLabel("Server", { exact: true }).fill(small);
    await form.getByRole("button", { name: "Open" }).click();
    await page.getByRole("button", { name: "Show the rollouts" }).click();
    const status = page.locator("t2t-list .status", { hasText: /rollouts(?! so far)/ });
    const count = Number(/(\d+) rollouts/.exec(await status.innerText())?.[1]);
    assert.ok(count >= 2, `${count}`);
    await page.getByRole("button", { name: /^Live\W+pause/ }).click();
    await send(small, rollout(["While nobody asks."]));
    await page.waitForTimeout(1000);
    await waitForRollouts(page, count);
    await shoot(page, "paused");
    await page.getByRole("button", { name: /^Paused\W+go on/ }).click();
    await waitForRollouts(page, count + 1);
  });
});

test("behind a token the browser asks for a login; a connection that is lost is told, and comes back", async () => {
  const args = ["--tokenizer", BYTES, "--token", TOKEN];
  const first = collector("token", [...args, "--receive", "0"]);
  const url = await first.url("receive");
  const headers = { authorization: `Bearer ${TOKEN}` };
  await send(url, rollout(["Before."]), headers);
  const context = { httpCredentials: { username: "anybody", password: TOKEN, origin: url }, viewport: { width: 360, height: 720 } };
  await withViewer({ url: `${url}/`, expected: LOST, context }, async (page) => {
    await waitForRollouts(page, 1);
    first.signal("SIGKILL");
    await first.ended;
    const told = page.locator(".loads");
    await told.getByText("The connection is lost: it cannot be reached.").waitFor({ timeout: SOON_MILLIS });
    await page.getByRole("button", { name: /^Offline\W+pause/ }).waitFor();
    await assertAccessible(page, "lost");
    await shoot(page, "lost-360");
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    const again = collector("token", [...args, "--receive", new URL(url).port]);
    commands.push(again);
    await again.url("receive");
    await send(url, rollout(["After."]), headers);
    await told.getByRole("button", { name: "Try now" }).click();
    await told.getByText("The connection is back.").waitFor({ timeout: SOON_MILLIS });
    await waitForRollouts(page, 2);
    await page.emulateMedia({ colorScheme: "dark" });
    await assertAccessible(page, "back, in the dark", true);
  });
  const { status } = await fetch(`${url}/`);
  assert.equal(status, 401);
});
