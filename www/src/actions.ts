/** What the keys do. */
import type { Action } from "./keys.js";
import { MoveEvent, type Tab } from "./selection.js";
import type { Token2TextViewer } from "./viewer.js";

const goTo = (viewer: Token2TextViewer, at: number | undefined) => {
  const row = at === undefined ? undefined : viewer.session.rows[at];
  if (row) viewer.select({ rollout: row.key });
};
const move = (viewer: Token2TextViewer, to: MoveEvent["to"]) => viewer.rolloutView?.dispatchEvent(new MoveEvent(to));
const tab = (viewer: Token2TextViewer, tab: Tab) => viewer.row && viewer.select({ tab, siblings: false });

const ACTIONS: Record<Action, (viewer: Token2TextViewer) => unknown> = {
  "next-rollout": (viewer) => goTo(viewer, viewer.list?.neighbour(1)),
  "previous-rollout": (viewer) => goTo(viewer, viewer.list?.neighbour(-1)),
  "next-step": (viewer) => goTo(viewer, viewer.list?.stepNeighbour(1)),
  "previous-step": (viewer) => goTo(viewer, viewer.list?.stepNeighbour(-1)),
  next: (viewer) => move(viewer, "next"),
  previous: (viewer) => move(viewer, "previous"),
  first: (viewer) => move(viewer, "first"),
  last: (viewer) => move(viewer, "last"),
  chat: (viewer) => tab(viewer, "chat"),
  text: (viewer) => tab(viewer, "text"),
  tokens: (viewer) => tab(viewer, "tokens"),
  raw: (viewer) => tab(viewer, "raw"),
  siblings: (viewer) => viewer.siblings.length > 1 && viewer.select({ siblings: !viewer.selection.siblings }),
  search: (viewer) => viewer.searchBox?.focus(),
  "next-hit": (viewer) => stepHit(viewer, 1),
  "previous-hit": (viewer) => stepHit(viewer, -1),
  open: (viewer) => (viewer.isOpening = true),
  help: (viewer) => viewer.help.show(),
  escape: leave,
};

/** Whether the key was for this. */
export function perform(viewer: Token2TextViewer, action: Action): boolean {
  if (viewer.showsSources && action !== "help" && action !== "escape") return false;
  const result = ACTIONS[action](viewer);
  return action !== "escape" && (action !== "next-hit" || result !== undefined);
}

/** Goes to the next or previous hit; searches first if that was not done yet. */
export async function stepHit(viewer: Token2TextViewer, by: 1 | -1): Promise<void> {
  const { search, session } = viewer;
  const at = viewer.row?.at;
  if (!search.isActive) return;
  if (search.isStale(at)) await search.run(at);
  const hit = search.step(by, at);
  const row = hit && session.rows[hit.rollout];
  if (hit && row) viewer.select({ rollout: row.key, call: hit.call, tokens: hit.tokens, siblings: false });
}

/** Leaves what is on top: a field, the side-by-side view, the screen of sources. */
function leave(viewer: Token2TextViewer): void {
  const focused = viewer.renderRoot.querySelector<HTMLElement>(":focus");
  const { rows } = viewer.session;
  if (focused?.matches("t2t-search, t2t-list")) focused.blur();
  else if (viewer.isOpening && rows.length > 0) viewer.isOpening = false;
  else if (viewer.selection.siblings) viewer.select({ siblings: false });
  else if (viewer.isNarrow && viewer.row) viewer.select({ rollout: undefined });
}
