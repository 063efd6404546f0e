import { LitElement, html, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "../element.js";
import { nameOf } from "../address.js";
import type { Source } from "../engine/contract.js";
import { icon } from "../icons.js";
import type { Load, Session, Undecided } from "../session.js";
import { plain } from "../text/safe-text.js";
import { base, controls } from "../theme.js";
import { dropped, picked, type Picked } from "./collect.js";
import { followedLine, isToldOf, waiting } from "./live-sign.js";
import { formatBytes, loadLine, problemLine } from "./load-line.js";
import { tokenizerSources, traceSources } from "./given.js";
import "./server-form.js";
import { isTokenizer } from "./sniff.js";
import { sourcesStyles } from "./sources-styles.js";

const COUNT = new Intl.NumberFormat("en");
const SAMPLE = { tokenizer: "sample/tokenizer.t2t", traces: "sample/rollouts.jsonl" };

/**
 * Where tokenizers and traces come from: the first screen of the viewer, and later what its button "Open" shows. Says `done` when the
 * person wants to see the rollouts.
 */
@element("t2t-sources")
export class Sources extends LitElement {
  static override styles = [base, controls, sourcesStyles];

  @property({ attribute: false }) session!: Session;
  /** Changes whenever the session does. */
  @property({ type: Number }) tick = 0;
  /** Whether samples may lie beside the page. */
  @property({ type: Boolean }) page = false;
  /** Whether a link names a rollout that is not open. */
  @property({ type: Boolean }) isLinked = false;
  @state() private isOver = false;
  @state() private hasSample = false;
  @state() private add = false;
  @query(".files") private files!: HTMLInputElement;
  @query(".folder") private folder!: HTMLInputElement;

  override firstUpdated() {
    void this.session.refreshKept();
    if (this.page) void this.lookForSample();
  }

  /** Opens what was dropped, here or anywhere on the viewer. */
  async drop(transfer: DataTransfer): Promise<void> {
    await this.take(await dropped(transfer));
  }

  private async take(files: Picked[]): Promise<void> {
    const kinds = await Promise.all(files.map(({ file, path }) => isTokenizer(file, path).catch(() => false)));
    const source = ({ file, path }: Picked): Source => ({ kind: "file", name: path, blob: file });
    await this.open(
      files.filter((_, at) => kinds[at]).map((file) => ({ source: source(file) })),
      files.filter((_, at) => !kinds[at]).map(source),
    );
  }

  private async open(tokenizers: { source: Source; pattern?: string }[], traces: Source[]): Promise<void> {
    // The tokenizer first: traces are decoded with it.
    const loaded = tokenizers.length > 0 ? this.session.loadTokenizers(tokenizers) : undefined;
    const opened = traces.length > 0 ? this.session.openTraces(traces, this.add && this.session.rows.length > 0) : undefined;
    await Promise.all([loaded, opened]);
  }

  private async openSource(source: Source): Promise<void> {
    const isTokenizer = source.kind === "url" && /(tokenizer\.json|\.t2t)(\.gz)?$/i.test(nameOf(source.url));
    await (isTokenizer ? this.open([{ source }], []) : this.open([], [source]));
  }

  private async lookForSample(): Promise<void> {
    const isThere = async (path: string) => {
      const response = await fetch(new URL(path, document.baseURI), { method: "HEAD" });
      return response.ok && !/text\/html/.test(response.headers.get("content-type") ?? "");
    };
    const found = await Promise.all(Object.values(SAMPLE).map((path) => isThere(path).catch(() => false)));
    this.hasSample = found.every(Boolean);
  }

  private async openSample(): Promise<void> {
    await this.open(tokenizerSources(SAMPLE.tokenizer), traceSources(SAMPLE.traces));
  }

  override render() {
    const { session } = this;
    const isEmpty = session.rows.length === 0 && session.tokenizers.length === 0 && session.loads.length === 0 && session.undecided.length === 0 && session.problems.length === 0 && session.live.sources.length === 0;
    return html`<div class="page">
      <div class="intro">
        <div>
          <h1>See what the model read and wrote</h1>
          <p>Rollouts that were recorded as token ids, with their text, turn by turn. All of it stays in this browser.</p>
          ${this.isLinked && session.rows.length === 0 ? html`<p class="linked">This link is to a rollout. Open the traces that it is in, and you see it.</p>` : nothing}
        </div>
        ${session.rows.length > 0
          ? html`<button type="button" class="primary" @click=${() => this.dispatchEvent(new Event("done"))}>Show the rollouts</button>`
          : nothing}
      </div>
      ${this.isWaiting ? html`<section class="waiting" aria-label="Live">${waiting(session.live)}</section>` : nothing}
      ${this.dropZone()} ${isEmpty ? nothing : this.standing()}
      <div class="columns">
        <section class="card" aria-labelledby="servers">
          <h2 id="servers">From a server</h2>
          <t2t-server-form @source=${(event: CustomEvent<Source>) => void this.openSource(event.detail)}></t2t-server-form>
        </section>
        ${this.kept()}
      </div>
    </div>`;
  }

  /** Whether a collector is followed that has nothing yet. */
  private get isWaiting(): boolean {
    return this.session.live.sources.length > 0 && this.session.rows.length === 0;
  }

  private dropZone() {
    return html`<section
      class="drop ${this.isOver ? "over" : ""} ${this.isWaiting ? "below" : ""}"
      aria-label="Files"
      @dragenter=${() => (this.isOver = true)}
      @dragleave=${() => (this.isOver = false)}
      @drop=${() => (this.isOver = false)}
    >
      ${icon("drop", 28)}
      <strong>Drop traces and a tokenizer.json here</strong>
      <p>Files or folders, both at once: JSON lines, MLflow, Weave, Trackio, OTLP, records of vLLM, SGLang, TRL and others; also gzipped.</p>
      <div class="actions">
        <button type="button" class=${this.hasSample ? "" : "primary"} @click=${() => this.files.click()}>Choose files</button>
        <button type="button" @click=${() => this.folder.click()}>Choose a folder</button>
        ${this.hasSample ? html`<button type="button" class="primary" @click=${this.openSample}>Try it with a sample</button>` : nothing}
      </div>
      <input class="files" type="file" multiple hidden aria-label="Files" @change=${() => this.take(picked(this.files))} />
      <input class="folder" type="file" webkitdirectory hidden aria-label="Folder" @change=${() => this.take(picked(this.folder))} />
    </section>`;
  }

  /** What is there of the two things that one needs. */
  private standing() {
    const { rows, tokenizers, isWhole, loads, undecided, problems, live } = this.session;
    const of = (what: Load["what"]) => loads.filter((load) => load.what === what).map((load) => loadLine(load, { cancel: () => void this.session.cancel(load) }));
    return html`<div class="state">
      <section class="card" aria-label="Traces">
        <h2><span class="mark ${rows.length > 0 ? "done" : ""}"></span>Traces</h2>
        <ul>
          ${of("traces")} ${this.isWaiting ? nothing : live.sources.filter((one) => isToldOf(live, one)).map((one) => followedLine(live, one))}
        </ul>
        ${rows.length > 0
          ? html`<p role="status">${COUNT.format(rows.length)} ${rows.length === 1 ? "rollout" : "rollouts"}${isWhole ? "" : " so far"}</p>
              <label class="options"
                ><input type="checkbox" .checked=${this.add} @change=${() => (this.add = !this.add)} /> Open further traces beside these</label
              >`
          : isWhole && problems.length > 0
            ? problems.slice(0, 5).map(problemLine)
            : html`<p class="why" role="status">${isWhole && !this.isWaiting ? "There are no rollouts in what was opened." : "None yet."}</p>`}
      </section>
      <section class="card" aria-label="Tokenizers">
        <h2><span class="mark ${tokenizers.length > 0 ? "done" : ""}"></span>Tokenizer</h2>
        <ul>
          ${tokenizers.map(
            ({ name, pattern, vocabSize }) =>
              html`<li class="line">
                <span class="name ellipsis" title=${plain(name)}>${plain(name, 120)}</span>
                <span class="faint number">${COUNT.format(vocabSize)} tokens</span>
                <span class="chip mono" title="For models of this name">${plain(pattern, 60)}</span>
              </li>`,
          )}
          ${undecided.map((one) => this.undecided(one))} ${of("tokenizer")}
        </ul>
        ${tokenizers.length === 0 && !loads.some(({ what }) => what === "tokenizer") && undecided.length === 0
          ? html`<p class="why">None yet. Without the model's tokenizer.json the ids have no text.</p>`
          : nothing}
      </section>
    </div>`;
  }

  private undecided(undecided: Undecided) {
    const name = "name" in undecided.source ? undecided.source.name : "";
    const other = this.session.tokenizers.find(({ pattern }) => pattern === (undecided.pattern || "*"));
    const load = () => void this.session.decide(undecided);
    return html`<li class="undecided">
      <span class="name ellipsis" title=${plain(name)}>${plain(name, 120)}</span>
      <label
        >For models whose name fits
        <input
          .value=${undecided.pattern}
          spellcheck="false"
          title="* stands for anything"
          @input=${(event: Event) => {
            undecided.pattern = (event.target as HTMLInputElement).value.trim();
            this.requestUpdate();
          }}
          @keydown=${(event: KeyboardEvent) => event.key === "Enter" && load()}
      /></label>
      <button type="button" class="primary" @click=${load}>Load</button>
      <button type="button" class="quiet" @click=${() => this.session.dismiss(undecided)}>Leave out</button>
      ${other ? html`<p class="why">It takes the place of ${plain(other.name, 80)}, which is for the same models.</p>` : nothing}
    </li>`;
  }

  private kept() {
    const { session } = this;
    return html`<section class="card" aria-labelledby="recent">
      <h2 id="recent">Recent tokenizers</h2>
      <ul class="kept">
        ${session.kept.map(
          ({ name, bytes, key }) =>
            html`<li>
              <button type="button" class="quiet pick" title="Load it" @click=${() => session.loadTokenizers([{ source: { kind: "kept", name, key } }])}>
                <span class="name ellipsis">${plain(name, 120)}</span><span class="faint number">${formatBytes(bytes)}</span>
              </button>
            </li>`,
        )}
      </ul>
      ${session.kept.length === 0 ? html`<p class="why">None are kept.</p>` : nothing}
      <label class="options"
        ><input type="checkbox" .checked=${session.keep} @change=${() => (session.keep = !session.keep)} /> Keep this tokenizer in this
        browser</label
      >
      ${session.kept.length > 0
        ? html`<div><button type="button" class="link" @click=${() => void session.forgetKept()}>Forget all</button></div>`
        : nothing}
    </section>`;
  }
}
