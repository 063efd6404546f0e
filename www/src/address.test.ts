import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHash, fromQuery, nameOf, toHash } from "./address.js";
import type { Selection } from "./selection.js";
import { partingOf } from "./siblings/parting.js";
import type { RolloutDetail } from "./engine/contract.js";

test("what is looked at comes back from its link", () => {
  const selections: Selection[] = [
    { tab: "chat" },
    { rollout: "a b.jsonl:x/é&=#~2", tab: "tokens", call: 0, tokens: [10, 20] },
    { rollout: "k", tab: "chat", siblings: true },
  ];
  for (const selection of selections) assert.deepEqual(fromHash(toHash(selection)), selection);
  assert.equal(toHash({ tab: "raw" }), "");
});

test("what makes no sense in a link is left out", () => {
  assert.deepEqual(fromHash("#rollout=k&call=-1&tokens=9-3&tab=javascript:"), { rollout: "k", tab: "chat" });
  assert.deepEqual(fromHash("#call=2&tokens=1-2"), { tab: "chat" });
  assert.deepEqual(fromHash("#rollout=k&call=99999999999&tokens=1-"), { rollout: "k", tab: "chat" });
});

test("tokenizers, traces and collectors of the query, with patterns", () => {
  const { tokenizers, traces, collectors } = fromQuery("?tokenizer=Qwen/*=/q.json%3Fv%3D1&tokenizer=https://h/t.json?a=b&trace=a.jsonl&trace=b.jsonl&trace=&collector=.");
  assert.deepEqual(tokenizers, [{ pattern: "Qwen/*", url: "/q.json?v=1" }, { url: "https://h/t.json?a=b" }]);
  assert.deepEqual(traces, ["a.jsonl", "b.jsonl"]);
  assert.deepEqual(collectors, ["."]);
  assert.equal(nameOf("https://h/a/caf%C3%A9.jsonl?x=1"), "café.jsonl");
  assert.equal(nameOf("https://h/%ff"), "%ff");
});

test("where a rollout parts from another one", () => {
  const detail = (...contents: string[]) =>
    ({ rollout: { calls: contents.map((content) => ({ role: "turn", messages: [{ role: "assistant", content }] })) } }) as unknown as RolloutDetail;
  assert.equal(partingOf(detail("same"), detail("same")), "same");
  assert.equal(partingOf(detail(), detail()), "unknown");
  assert.deepEqual(partingOf(detail("it is 9.9"), detail("it is 9.11")), { before: "assistant: it is 9.", after: "9" });
  assert.deepEqual(partingOf(detail("a😀"), detail("a😁")), { before: "assistant: a", after: "😀" });
  assert.deepEqual(partingOf(detail("a", "b"), detail("a")), { before: "assistant: a", after: "\nassistant: b" });
});
