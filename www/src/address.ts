/** What stands in the page's address: in the hash what is looked at, in the query what is opened. */
import type { Selection, Tab } from "./selection.js";

const TABS: readonly Tab[] = ["chat", "text", "tokens", "raw"];

/** `#rollout=KEY&call=2&tokens=10-20&tab=tokens`; what is absent or usual is left out. */
export function toHash({ rollout, call, tokens, tab, siblings }: Selection): string {
  if (rollout === undefined) return "";
  const parts = new URLSearchParams({ rollout });
  if (call !== undefined) parts.set("call", String(call));
  if (tokens) parts.set("tokens", tokens.join("-"));
  if (tab !== "chat") parts.set("tab", tab);
  if (siblings) parts.set("siblings", "1");
  return `#${parts}`;
}

/** What does not make sense in a hash is left out. */
export function fromHash(hash: string): Selection {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const selection: Selection = { tab: TABS.find((tab) => tab === parts.get("tab")) ?? "chat" };
  const rollout = parts.get("rollout");
  if (!rollout) return selection;
  selection.rollout = rollout;
  const call = parts.get("call") ?? "";
  if (/^\d{1,9}$/.test(call)) selection.call = Number(call);
  const range = /^(\d{1,9})-(\d{1,9})$/.exec(parts.get("tokens") ?? "");
  if (range && Number(range[1]) <= Number(range[2])) selection.tokens = [Number(range[1]), Number(range[2])];
  if (parts.get("siblings") === "1") selection.siblings = true;
  return selection;
}

/** `?tokenizer=URL&trace=URL&collector=URL`, each as often as there are; a tokenizer with a pattern as `?tokenizer=Qwen/*=URL`. */
export function fromQuery(search: string): { tokenizers: { pattern?: string; url: string }[]; traces: string[]; collectors: string[] } {
  const query = new URLSearchParams(search);
  const tokenizers = query.getAll("tokenizer").filter(Boolean).map((value) => {
    const [, pattern, url] = /^([^=:?]*)=(.+)$/s.exec(value) ?? [];
    return url ? { pattern, url } : { url: value };
  });
  return { tokenizers, traces: query.getAll("trace").filter(Boolean), collectors: query.getAll("collector").filter(Boolean) };
}

/** Last part of a URL's path, as a name for people. */
export function nameOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0]!.replace(/\/+$/, "");
  const last = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(last) || url;
  } catch {
    return last || url;
  }
}
