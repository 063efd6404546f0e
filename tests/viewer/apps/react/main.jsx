import { createElement, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { read } from "token2text/worker";
import "token2text/viewer";
import "./page.css";

/** React 19 sets properties of custom elements, and takes `on...` for their events. */
function App() {
  const [spans, setSpans] = useState(undefined);
  useEffect(() => void loadSpans().then(setSpans), []);
  return createElement("token2text-viewer", {
    tokenizer: "tokenizer.json",
    spans,
    onloaded: ({ detail }) => (document.body.dataset.loaded = detail.rollouts),
    onselect: ({ detail }) => (document.body.dataset.selected = detail.rollout?.requestId),
  });
}

/** A page that has spans already. */
async function loadSpans() {
  const response = await fetch("trace.jsonl");
  return read(new Uint8Array(await response.arrayBuffer()));
}

createRoot(document.getElementById("root")).render(createElement(App));
