import type { Span } from "token2text";
import { Token2TextViewer, type ErrorDetail, type LoadedDetail, type SelectDetail } from "token2text/viewer";

export function place(spans: Span[], file: Blob): Token2TextViewer {
  const viewer = document.createElement("token2text-viewer");
  viewer.tokenizer = { "Qwen/*": "tokenizer.json", "*": file };
  viewer.spans = spans;
  viewer.trace = [new URL("https://localhost/trace.jsonl"), file];
  viewer.theme = "dark";
  viewer.addEventListener("select", ({ detail }) => {
    const { rollout, call, tokens }: SelectDetail = detail;
    console.log(rollout?.step, call, tokens?.[0]);
  });
  viewer.addEventListener("loaded", ({ detail: { rollouts } }: CustomEvent<LoadedDetail>) => console.log(rollouts));
  viewer.addEventListener("error", ({ detail }) => {
    const { code, message }: ErrorDetail = detail;
    console.log(code, message);
  });
  viewer.addEventListener("click", (event) => event.preventDefault());
  // @ts-expect-error a number is no tokenizer
  viewer.tokenizer = 5;
  // @ts-expect-error there is no such detail
  viewer.addEventListener("loaded", ({ detail }) => detail.spans);
  return viewer;
}
