/** Wires the page: two files in, a list of readable records out. */
import { Tokenizer, init } from "token2text/worker";
import "./style.css";
import { decodeTrace } from "./decode";
import { SourceBox, acceptDrops } from "./source-box";
import { element } from "./dom";
import { RecordList } from "./record-list";
import { textMarker } from "./special";
import { showProblems, showTotals } from "./totals";
import { type TraceFile, downloadName, readTrace } from "./trace";

const SAMPLE = { tokenizer: "sample/tokenizer.json", trace: "sample/calls.jsonl" };

const tokenizerBox = new SourceBox(element("tokenizer-source"), loadTokenizer);
const traceBox = new SourceBox(element("trace-source"), loadTrace);
const list = new RecordList(element("records"), element("matches"));

let tokenizer: Tokenizer | undefined;
let trace: TraceFile | undefined;
let download: { name: string; parts: Uint8Array[] } | undefined;
/** Loads and runs that a newer one has replaced are given up. */
let tokenizerLoad = new AbortController();
let run = new AbortController();

acceptDrops(document.body, (file) => (/tokenizer/i.test(file.name) ? tokenizerBox : traceBox).take(file));
element("search").addEventListener("input", (event) => list.search((event.target as HTMLInputElement).value));
element("download").addEventListener("click", saveDownload);
element("sample-button").addEventListener("click", () => void loadSample());
void offerSample();
// The worker starts before the first file is there; a failure shows up again, and is told, when one is.
init().catch(() => {});

async function loadTokenizer(source: Blob | URL, name: string) {
  tokenizerLoad.abort();
  tokenizerLoad = new AbortController();
  const { signal } = tokenizerLoad;
  await tokenizerBox.work(`Loading ${name}`, signal, async () => {
    const loaded = await Tokenizer.load(source, {
      signal,
      onProgress: ({ loaded, total }) => tokenizerBox.progress(total ? loaded / total : undefined),
    });
    void tokenizer?.free();
    tokenizer = loaded;
    const { vocabSize, decoder } = await loaded.info;
    return `${name}: ${vocabSize.toLocaleString("en")} tokens, ${decoder}`;
  });
  if (!signal.aborted) await decode();
}

async function loadTrace(source: Blob | URL, name: string) {
  const loading = new AbortController();
  run.abort();
  run = loading;
  await traceBox.work(`Reading ${name}`, loading.signal, async () => {
    const read = await readTrace(source, name, (part) => traceBox.progress(part));
    trace = read;
    return tokenizer ? `${name}` : `${name}: waiting for a tokenizer`;
  });
  if (!loading.signal.aborted) await decode();
}

/** Decodes the trace with the tokenizer once both are there. */
async function decode() {
  if (!tokenizer || !trace) return;
  run.abort();
  run = new AbortController();
  const { signal } = run;
  const [usedTokenizer, usedTrace] = [tokenizer, trace];
  element("results").hidden = false;
  element("sample").hidden = true;
  const { specialTokens } = await usedTokenizer.info;
  if (signal.aborted) return;
  list.start(textMarker(specialTokens.map(({ content }) => content)));
  download = undefined;
  await traceBox.work(`Decoding ${usedTrace.name}`, signal, async () => {
    const result = await decodeTrace(usedTrace, usedTokenizer, signal, (records, part) => {
      list.add(records);
      traceBox.progress(part);
    });
    showTotals(element("totals"), result.totals);
    showProblems(element("problems"), result.problems);
    download = { name: downloadName(usedTrace.name), parts: result.parts };
    return `${usedTrace.name}: ${result.totals.records.toLocaleString("en")} records`;
  });
}

function saveDownload() {
  if (!download) return;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(download.parts as BlobPart[]));
  link.download = download.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The sample is there when `make demo` serves the page. */
async function offerSample() {
  const answer = await fetch(SAMPLE.trace, { method: "HEAD" }).catch(() => undefined);
  const isThere = answer?.ok === true && !answer.headers.get("content-type")?.startsWith("text/html");
  element("sample").hidden = !isThere;
}

async function loadSample() {
  element("sample").hidden = true;
  await Promise.all([
    tokenizerBox.takeUrl(new URL(SAMPLE.tokenizer, document.baseURI)),
    traceBox.takeUrl(new URL(SAMPLE.trace, document.baseURI)),
  ]);
}
