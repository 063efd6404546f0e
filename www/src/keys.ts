/** The keys of the viewer: what they do, and what the help says of them. */

export type Action =
  | "next-rollout"
  | "previous-rollout"
  | "next-step"
  | "previous-step"
  | "next"
  | "previous"
  | "first"
  | "last"
  | "chat"
  | "text"
  | "tokens"
  | "raw"
  | "siblings"
  | "search"
  | "next-hit"
  | "previous-hit"
  | "open"
  | "help"
  | "escape";

interface Key {
  /** As in `KeyboardEvent.key`, with `Shift+` before keys that are no letters. */
  key: string;
  action: Action;
  help: string;
}

export const KEYS: readonly { title: string; keys: readonly Key[] }[] = [
  {
    title: "Rollouts",
    keys: [
      { key: "n", action: "next-rollout", help: "Next rollout" },
      { key: "p", action: "previous-rollout", help: "Previous rollout" },
      { key: "N", action: "next-step", help: "Next step" },
      { key: "P", action: "previous-step", help: "Previous step" },
      { key: "s", action: "siblings", help: "Rollouts of the same sample side by side" },
    ],
  },
  {
    title: "In a rollout",
    keys: [
      { key: "j", action: "next", help: "Next turn or line" },
      { key: "k", action: "previous", help: "Previous turn or line" },
      { key: "g", action: "first", help: "First" },
      { key: "G", action: "last", help: "Last" },
      { key: "1", action: "chat", help: "Chat" },
      { key: "2", action: "text", help: "Text" },
      { key: "3", action: "tokens", help: "Tokens" },
      { key: "4", action: "raw", help: "Raw" },
    ],
  },
  {
    title: "Everywhere",
    keys: [
      { key: "/", action: "search", help: "Search" },
      { key: "Enter", action: "next-hit", help: "Next hit" },
      { key: "Shift+Enter", action: "previous-hit", help: "Previous hit" },
      { key: "o", action: "open", help: "Open files or servers" },
      { key: "?", action: "help", help: "This help" },
      { key: "Escape", action: "escape", help: "Close, or leave a field" },
    ],
  },
];

const ACTIONS = new Map(KEYS.flatMap(({ keys }) => keys.map(({ key, action }) => [key, action] as const)));
const TYPING = "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]";
/** What Enter means something to already. */
const PRESSED = "button, a, summary, [role=grid], [role=treegrid], [role=tree], [role=listbox], [role=option], [role=tab], input";

/** What a key means here and now: nothing while one types, with a modifier, or when something has used it already. */
export function actionOf(event: KeyboardEvent): Action | undefined {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  const at = event.composedPath()[0];
  const within = (selector: string) => at instanceof Element && at.closest(selector) !== null;
  const isEnter = event.key === "Enter";
  const action = ACTIONS.get(isEnter && event.shiftKey ? "Shift+Enter" : event.key);
  if (action !== "escape" && within(TYPING)) return undefined;
  if (isEnter && within(PRESSED)) return undefined;
  return action;
}
