/**
 * The screen with rollouts, drawn once where nobody sees it. What a browser does for the first time takes long: it looks for fonts,
 * reads templates, compiles. When the first rollouts come somebody waits.
 */
import { adoptStyles, render, type LitElement } from "lit";
import { whenIdle } from "./engine/client.js";
import type { Row } from "./engine/contract.js";
import { ListFacts } from "./list/columns.js";
import type { List } from "./list/list.js";
import type { Load, Session } from "./session.js";
import type { Token2TextViewer } from "./viewer.js";
import { view } from "./view.js";

/** As many lines as a window has, with something in every column. */
const LINES = 40;

/** Draws it over the viewer, in two steps, each when the page has nothing else to do. */
export function rehearse(viewer: Token2TextViewer): void {
  const host = document.createElement("div");
  host.inert = true;
  host.ariaHidden = "true";
  Object.assign(host.style, { position: "absolute", inset: "0", visibility: "hidden", contain: "strict" });
  // A root that nothing looks into: nobody takes this for the screen itself.
  const root = host.attachShadow({ mode: "closed" });
  adoptStyles(root, (viewer.constructor as typeof LitElement).elementStyles);
  whenIdle(() => {
    if (!viewer.showsSources) return;
    viewer.renderRoot.append(host);
    render(view(standIn(viewer)), root);
    const list = root.querySelector<List>("t2t-list")!;
    list.addEventListener("arranged", () => whenIdle(() => void drawn(list).then(() => host.remove())));
  });
}

async function drawn(list: List): Promise<void> {
  await list.updateComplete;
  // Only what is asked for is laid out at once.
  list.getBoundingClientRect();
}

/** The viewer as it will be when the first rollouts are there. */
function standIn(viewer: Token2TextViewer): Token2TextViewer {
  const rows = sample();
  const facts = new ListFacts();
  facts.add(rows);
  const load: Load = { id: 0, what: "traces", name: "rehearsal", state: "loading", progress: { what: "Reading", done: 1, total: 2 } };
  const session: Partial<Session> = { rows, version: 1, loads: [load], checked: { done: 1, total: 2 }, columns: facts.columns(), scale: facts.scale };
  // Without `page`, nothing is looked for beside it.
  return withOthers(viewer, { session: withOthers(viewer.session, session), showsSources: false, page: false, requestUpdate: () => {} });
}

/** An object that differs in some properties. */
function withOthers<T extends object>(object: T, others: Partial<T>): T {
  return Object.create(object, Object.fromEntries(Object.entries(others).map(([name, value]) => [name, { value }]))) as T;
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
