import type { RolloutDetail } from "../engine/contract.js";

/** Where a rollout begins to differ from another one of its sample. */
export interface Parting {
  /** What both have before it, its end. */
  before: string;
  /** What this one has from there on, its beginning. */
  after: string;
}

const SHOWN = 48;

/** Texts of all messages, each with who says it; empty where no template is known, and so no message. */
function textOf({ rollout }: RolloutDetail): string {
  const texts: string[] = [];
  for (const { role, messages } of rollout.calls) {
    if (role === "copy" || role === "attempt") continue;
    for (const message of messages) {
      const tools = message.toolCalls?.map(({ name, arguments: given }) => `${name}(${given})`).join(" ") ?? "";
      texts.push(`${message.role ?? ""}: ${message.reasoning ?? ""}${message.content}${tools}`);
    }
  }
  return texts.join("\n");
}

/** `same` if they say the same, `unknown` if there are no messages to compare. */
export function partingOf(detail: RolloutDetail, other: RolloutDetail): Parting | "same" | "unknown" {
  const [mine, theirs] = [textOf(detail), textOf(other)];
  if (mine === "" || theirs === "") return "unknown";
  const length = Math.min(mine.length, theirs.length);
  let at = 0;
  while (at < length && mine.charCodeAt(at) === theirs.charCodeAt(at)) at++;
  if (at === mine.length && at === theirs.length) return "same";
  // A pair of surrogates stays together.
  if (at > 0 && /[\ud800-\udbff]/.test(mine[at - 1]!)) at--;
  return { before: mine.slice(Math.max(0, at - SHOWN), at), after: mine.slice(at, at + SHOWN) };
}
