/** What the page shows, as text: what is seen is read from the page alone. */
import { createHash } from "node:crypto";

/** @typedef {import("playwright-core").Page} Page */

/**
 * Runs in the page: unfolds everything in the tab Text or Tokens, walks from its first row to its last, and gives the text that
 * is shown. Characters that are shown by name are those that the name says; of a chip that counts several it has as many U+10FFFF.
 *
 * @param {Element} element
 */
async function walk(element) {
  const root = /** @type {ShadowRoot} */ (element.shadowRoot);
  const scroller = /** @type {HTMLElement} */ (root.querySelector(".scroller"));
  // A call without tokens says so in place of rows.
  if (!root.querySelector(".height")) return "";
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const rows = () => [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".rows > [data-row]"))];

  /** Until rows are drawn over all that is in sight, and nothing moves any more. */
  async function settle() {
    for (let [steady, before] = [0, ""]; steady < 2; ) {
      await frame();
      const drawn = rows();
      const box = scroller.getBoundingClientRect();
      const height = /** @type {HTMLElement} */ (root.querySelector(".height")).offsetHeight;
      const [first, last] = [drawn[0]?.getBoundingClientRect(), drawn.at(-1)?.getBoundingClientRect()];
      const now = `${scroller.scrollTop} ${scroller.scrollHeight} ${drawn.length} ${first?.top} ${last?.bottom}`;
      const isCovered = first && last && first.top <= box.top + 2 && last.bottom >= Math.min(box.bottom, box.top + height - scroller.scrollTop) - 2;
      steady = isCovered && now === before ? steady + 1 : 0;
      before = now;
    }
  }

  /** @param {() => boolean} look Whether to stay. */
  async function visit(look) {
    scroller.scrollTop = 0;
    for (;;) {
      await settle();
      if (look()) continue;
      const top = scroller.scrollTop;
      if (top + scroller.clientHeight >= scroller.scrollHeight - 1) return;
      scroller.scrollTop = top + scroller.clientHeight * 0.8;
    }
  }

  await visit(() => {
    const fold = /** @type {HTMLElement | null} */ (root.querySelector(".rows .fold[aria-expanded=false]"));
    fold?.click();
    return fold !== null;
  });

  /** @param {Node} node @returns {string} */
  function textOf(node) {
    if (node.nodeType === Node.TEXT_NODE) return node.textContent ?? "";
    if (!(node instanceof HTMLElement) || node.matches(".bytes, .other, .id, .fold, .at")) return "";
    if (node.matches(".hidden-chip")) {
      const count = Number(/×(\d+)$/.exec(node.textContent ?? "")?.[1] ?? 1);
      const code = /U\+([0-9A-F]+)$/.exec(node.title)?.[1];
      const hidden = Number(/^(\d+) hidden$/.exec(node.textContent ?? "")?.[1] ?? 0);
      return code ? String.fromCodePoint(parseInt(code, 16)).repeat(count) : "\u{10ffff}".repeat(hidden);
    }
    if (node.matches(".space-mark")) return node.textContent === "⏎" ? "\n" : node.textContent === "⇥" ? "\t" : " ".repeat(node.textContent?.length ?? 0);
    let text = "";
    for (const child of node.childNodes) {
      // A mark for a line feed has the line feed behind it, so that the line ends.
      const isMarked = child.previousSibling instanceof HTMLElement && child.previousSibling.matches(".space-mark") && child.previousSibling.textContent === "⏎";
      text += isMarked && child.nodeType === Node.TEXT_NODE ? (child.textContent ?? "").replace(/^\n/, "") : textOf(child);
    }
    return text;
  }

  /** @type {Map<number, string>} */
  const texts = new Map();
  await visit(() => {
    for (const row of rows()) texts.set(Number(row.dataset.row), [...row.querySelectorAll(".line > .piece, .line > .t")].map(textOf).join(""));
    return false;
  });
  return [...texts].sort(([a], [b]) => a - b).map(([, text]) => text).join("");
}

/** All of the text in the tab Text or Tokens. @param {Page} page @param {"t2t-text" | "t2t-tokens"} tab */
export const shownText = (page, tab) => page.locator(tab).evaluate(walk);

/** Whether a shown text is the expected one; chips that only count stand for as many characters. @param {string} shown @param {string} expected */
export function isShown(shown, expected) {
  const [mine, theirs] = [[...shown], [...expected]];
  return mine.length === theirs.length && mine.every((character, at) => character === theirs[at] || character === "\u{10ffff}");
}

/** @typedef {{ line: number, tokens: number, text?: string, sha256?: string, length?: number }} Call A call as the reference decodes it. */

/** Whether a call's text is shown. @param {string} shown @param {Call} call */
export function says(shown, { text, sha256 }) {
  return text === undefined ? createHash("sha256").update(shown).digest("hex") === sha256 : isShown(shown, text);
}

/**
 * The texts that the calls of the rollout have that is looked at, in the tab that is open.
 *
 * @param {Page} page
 * @param {"t2t-text" | "t2t-tokens"} tab
 */
export async function shownCalls(page, tab) {
  const texts = [];
  for (let call = 0; call < (await callRows(page).count()); call++) {
    await callRows(page).nth(call).click();
    const name = await callRows(page).nth(call).locator(".label").innerText();
    await page.locator("t2t-rollout-view .which", { hasText: name }).waitFor();
    // Those of another call stay in sight until these are there.
    await page.waitForFunction(() => {
      const view = /** @type {any} */ (document.querySelector("token2text-viewer")).shadowRoot.querySelector("t2t-rollout-view");
      const tree = view.shadowRoot.querySelector("t2t-turn-tree");
      return view.shadowRoot.querySelector("t2t-text, t2t-tokens")?.tokens.call === tree.call;
    });
    texts.push(await shownText(page, tab));
  }
  return texts;
}

/** Names of the calls in the tree. @param {Page} page */
export const callRows = (page) => page.locator("t2t-turn-tree [role=treeitem]");
