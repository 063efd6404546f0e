/**
 * The list, drawn once where nobody sees it. What a browser does for the first time takes long: it looks for fonts, reads templates,
 * compiles. When the first rollouts come somebody waits.
 */
import { element } from "./element.js";
import { whenIdle } from "./engine/client.js";
import type { Row } from "./engine/contract.js";
import { ListFacts } from "./list/columns.js";
import { List } from "./list/list.js";

/** As many lines as a window has, with something in every column. */
const LINES = 40;

/** It has a name of its own, so that nobody takes it for the list. */
element("t2t-rehearsal")(class extends List {});

/** Draws it in the root of the viewer, in two steps, each when the page has nothing else to do. */
export function rehearse(root: HTMLElement | DocumentFragment): void {
  const list = document.createElement("t2t-rehearsal") as List;
  list.inert = true;
  list.ariaHidden = "true";
  Object.assign(list.style, { position: "absolute", inset: "0", visibility: "hidden", contain: "strict" });
  root.append(list);
  list.addEventListener("arranged", () => list.rows.length > 0 && void drawn(list).then(() => list.remove()));
  whenIdle(() => {
    const rows = sample();
    const facts = new ListFacts();
    facts.add(rows);
    Object.assign(list, { rows, version: 1, columns: facts.columns(), scale: facts.scale, checked: { done: 1, total: 2 } });
  });
}

async function drawn(list: List): Promise<void> {
  await list.updateComplete;
  // Only what is asked for is laid out at once.
  list.getBoundingClientRect();
}

function sample(): Row[] {
  return Array.from({ length: LINES }, (_, at) => ({
    at,
    key: `${at}`,
    source: "rehearsal",
    step: at >> 3,
    sampleIndex: at >> 2,
    rolloutN: at & 3,
    validate: at % 2 === 0,
    experimentName: "rehearsal",
    model: "model",
    reward: at / LINES,
    turns: at,
    tokens: 1000 * at,
    start: at,
    duration: at / 7,
    findings: { info: at % 2, warning: at % 3, error: at % 5 },
    toolCalls: at % 4,
  }));
}
