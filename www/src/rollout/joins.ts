import type { Join } from "../engine/contract.js";

/** How a call goes on from another: a tag, a sentence, and how bad it is. */
export const JOINS: Record<Join, { tag: string; says: string; level: "" | "info" | "warning" | "error" }> = {
  extends: { tag: "extends", says: "The prompt begins with all tokens of", level: "" },
  trimmed: { tag: "trimmed", says: "Without its last mark, the prompt begins with all tokens of", level: "" },
  thinking_stripped: { tag: "thinking stripped", says: "The prompt leaves out the model's thoughts of", level: "info" },
  truncated_left: { tag: "cut at the left", says: "The prompt leaves out the oldest tokens of", level: "info" },
  retokenized: { tag: "re-tokenized", says: "The prompt has the same text in other ids than", level: "error" },
  edited: { tag: "edited", says: "The prompt has another text than", level: "warning" },
  branch: { tag: "branch", says: "The prompt shares only its beginning with", level: "info" },
};
