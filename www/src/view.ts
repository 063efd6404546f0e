/** What the viewer looks like: its regions, and what is in which of them. */
import { html, nothing } from "lit";
import { keyed } from "lit/directives/keyed.js";
import { stepHit } from "./actions.js";
import { downloadEnriched } from "./download.js";
import type { Hit } from "./engine/contract.js";
import "./help/help.js";
import { icon } from "./icons.js";
import "./list/list.js";
import { THEMES, keepTheme } from "./preferences.js";
import "./search/results.js";
import "./search/search-box.js";
import { failureOf } from "./session.js";
import { followedLine, isToldOf, liveSign, waiting } from "./sources/live-sign.js";
import { loadLine, problemLine } from "./sources/load-line.js";
import "./sources/problems.js";
import "./sources/sources.js";
import "./splitter.js";
import { styles } from "./styles.js";
import { plain } from "./text/safe-text.js";
import type { Token2TextViewer } from "./viewer.js";

const COUNT = new Intl.NumberFormat("en");
/** Shares of the list, where nobody has said otherwise: as much as its columns need, but not less or more than this. */
const LEFT = { least: 0.3, most: 0.46 };

export function view(viewer: Token2TextViewer) {
  const { session, showsSources } = viewer;
  const hasNothing = session.rows.length === 0;
  return html`
    ${toolbar(viewer)} ${showsSources ? nothing : loads(viewer)}
    <t2t-sources
      role=${viewer.page ? "main" : "region"}
      aria-label="Open"
      part="sources"
      ?hidden=${!showsSources}
      .session=${session}
      .tick=${viewer.tick}
      .page=${viewer.page}
      .isLinked=${viewer.selection.rollout !== undefined && viewer.row === undefined}
      @done=${() => (viewer.isOpening = false)}
    ></t2t-sources>
    ${hasNothing && showsSources ? nothing : body(viewer)}
    ${viewer.isDraggedOver && !showsSources ? html`<div class="over">Drop to open</div>` : nothing}
    <t2t-help></t2t-help>
    <t2t-problems .problems=${session.problems}></t2t-problems>
  `;
}

function toolbar(viewer: Token2TextViewer) {
  const { session, search, showsSources } = viewer;
  const problems = session.problems.reduce((sum, { count }) => sum + count, 0);
  return html`<div class="toolbar" part="toolbar" role=${viewer.page ? "banner" : "group"} aria-label="Viewer">
    <span class="brand">${logo}<span>token2text</span></span>
    ${viewer.page && !showsSources ? html`<h1 class="unseen">Rollouts</h1>` : nothing}
    ${session.rows.length > 0 && showsSources
      ? nothing
      : session.rows.length > 0
        ? html`<button type="button" title="Open files or servers (o)" @click=${() => (viewer.isOpening = true)}>${icon("open")}Open</button>`
        : nothing}
    ${showsSources ? nothing : html`${liveSign(session.live)}${chips(viewer)}`}
    ${problems > 0
      ? html`<button type="button" class="problems" @click=${() => viewer.problems.show()}>
          ${icon("warning", 14)}${COUNT.format(problems)} ${problems === 1 ? "problem" : "problems"}
        </button>`
      : nothing}
    ${showsSources
      ? nothing
      : html`<t2t-search
          part="search"
          .state=${search}
          .tick=${viewer.tick}
          .hasRollout=${viewer.row !== undefined}
          @search=${() => startSearch(viewer)}
          @step=${(event: CustomEvent<1 | -1>) => void stepHit(viewer, event.detail)}
        ></t2t-search>`}
    <div class="end">
      ${showsSources
        ? nothing
        : html`<button
            type="button"
            class="quiet icon"
            aria-label="Download with texts"
            title="Download the traces with their texts"
            ?disabled=${session.tokenizers.length === 0 || (viewer.saving !== undefined && !("failure" in viewer.saving))}
            @click=${() => void save(viewer)}
          >
            ${icon("save")}
          </button>`}
      ${viewer.page ? themeButton(viewer) : nothing}
      <button type="button" class="quiet icon" aria-label="Keys" title="Keys (?)" @click=${() => viewer.help.show()}>${icon("help")}</button>
    </div>
  </div>`;
}

const logo = html`<svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="4"></rect><path d="M4 4.5h8v2H9v6H7v-6H4z"></path></svg>`;

function chips({ session }: Token2TextViewer) {
  const { tokenizers } = session;
  return html`<div class="chips">
    ${tokenizers.slice(0, 3).map(
      ({ name, pattern, vocabSize }) =>
        html`<span class="chip" title="${plain(name)}: ${COUNT.format(vocabSize)} tokens, for models ${plain(pattern)}"
          ><span>${plain(pattern === "*" ? name : pattern, 60)}</span></span
        >`,
    )}
    ${tokenizers.length > 3 ? html`<span class="chip">+${tokenizers.length - 3}</span>` : nothing}
    ${tokenizers.length === 0 ? html`<span class="chip warning">no tokenizer</span>` : nothing}
  </div>`;
}

function themeButton(viewer: Token2TextViewer) {
  const now = viewer.theme ?? "auto";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]!;
  const change = () => {
    viewer.theme = next === "auto" ? undefined : next;
    keepTheme(next);
  };
  return html`<button type="button" class="quiet icon" aria-label="Colours: ${now}" title="Colours: ${now}, next ${next}" @click=${change}>${icon(now)}</button>`;
}

/** What is loaded, or failed, while the rollouts are seen. */
function loads(viewer: Token2TextViewer) {
  const { session, saving } = viewer;
  const { live } = session;
  const followed = live.sources.filter((one) => isToldOf(live, one));
  if (session.loads.length === 0 && followed.length === 0 && !saving) return nothing;
  return html`<section class="loads" part="loads" aria-label="What is on its way"><ul>
    ${followed.map((one) => followedLine(live, one))} ${session.loads.map((load) => loadLine(load, { cancel: () => void session.cancel(load) }))}
    ${!saving
      ? nothing
      : "failure" in saving
        ? html`<li class="line error" role="alert"><span class="why">${plain(saving.failure, 400)}</span><button type="button" class="quiet small" @click=${() => (viewer.saving = undefined)}>Dismiss</button></li>`
        : html`<li class="line"><span class="name ellipsis">${plain(saving.what, 120)}</span></li>`}
  </ul></section>`;
}

function startSearch(viewer: Token2TextViewer): void {
  viewer.leftPane = viewer.search.isActive ? "results" : "list";
  void viewer.search.run(viewer.row?.at);
}

async function save(viewer: Token2TextViewer): Promise<void> {
  try {
    viewer.saving = { what: "Writing the texts", done: 0 };
    await downloadEnriched(viewer.engine, (progress) => (viewer.saving = progress));
    viewer.saving = undefined;
  } catch (error) {
    viewer.saving = { failure: failureOf(error).message };
  }
}

function body(viewer: Token2TextViewer) {
  const { isNarrow, width, row, showsSources } = viewer;
  const needed = viewer.session.columns.reduce((sum, column) => sum + column.width, 14);
  const usual = Math.round(Math.min(Math.max(needed, width * LEFT.least), width * LEFT.most));
  const left = Math.min(viewer.left ?? usual, width - 240);
  const hasRight = !isNarrow || row !== undefined;
  if (viewer.session.rows.length === 0) return html`<div class="nothing" role=${viewer.page ? "main" : "region"} aria-label="Rollouts">${noRollouts(viewer)}</div>`;
  return html`<div class="body ${isNarrow ? "narrow" : ""}" role=${viewer.page ? "main" : "region"} aria-label="Rollouts" ?hidden=${showsSources} ${styles({ "--left": `${left}px` })}>
    <div class="left" ?hidden=${isNarrow && row !== undefined}>${leftSide(viewer)}</div>
    ${isNarrow
      ? nothing
      : html`<t2t-splitter .width=${left} .whole=${width} @resize=${(event: CustomEvent<number>) => (viewer.left = event.detail)}></t2t-splitter>`}
    ${hasRight ? html`<div class="right" part="rollout">${rightSide(viewer)}</div>` : nothing}
  </div>`;
}

function leftSide(viewer: Token2TextViewer) {
  const { session, search, leftPane } = viewer;
  const hasTabs = search.isActive && !search.failure;
  const showsResults = hasTabs && leftPane === "results";
  const tab = (pane: "list" | "results", label: string) =>
    html`<button type="button" role="tab" aria-selected=${(pane === "results") === showsResults} @click=${() => (viewer.leftPane = pane)}>${label}</button>`;
  return html`
    ${hasTabs
      ? html`<div class="tabs" role="tablist" aria-label="Left side">${tab("list", "Rollouts")}${tab("results", `Hits ${COUNT.format(search.hits.length)}`)}</div>`
      : nothing}
    ${showsResults
      ? html`<t2t-results
          part="results"
          .rows=${session.rows}
          .hits=${search.hits}
          .tick=${viewer.tick}
          .current=${search.current}
          .isRunning=${search.isRunning}
          @pick=${(event: CustomEvent<Hit>) => pick(viewer, event.detail)}
        ></t2t-results>`
      : nothing}
    <t2t-list
      part="list"
      ?hidden=${showsResults}
      .rows=${session.rows}
      .version=${session.version}
      .columns=${session.columns}
      .scale=${session.scale}
      .isWhole=${session.isWhole}
      .checked=${session.checked}
      .growth=${session.growth}
      .arrived=${session.arrived}
      .selected=${viewer.row && session.find(viewer.row.key)}
      @arranged=${() => viewer.requestUpdate()}
    ></t2t-list>
  `;
}

function pick(viewer: Token2TextViewer, hit: Hit): void {
  const row = viewer.session.rows[hit.rollout];
  viewer.search.pick(hit);
  if (row) viewer.select({ rollout: row.key, call: hit.call, tokens: hit.tokens, siblings: false });
}

function rightSide(viewer: Token2TextViewer) {
  const { row, selection, session, engine, search, siblings } = viewer;
  if (!row) return nothingSelected(viewer);
  if (selection.siblings && siblings.length > 1) {
    const beside = html`<t2t-siblings part="siblings" .engine=${engine} .rows=${siblings} .selection=${selection}></t2t-siblings>`;
    return keyed(session.revision, beside);
  }
  const { hits, hit } = search.of(row.at);
  // With another tokenizer all of it is read anew.
  const rollout = html`<t2t-rollout-view .engine=${engine} .row=${row} .selection=${selection} .hits=${hits} .hit=${hit}></t2t-rollout-view>`;
  return html`${walk(viewer)} ${keyed(session.revision, rollout)}`;
}

/** From rollout to rollout. */
function walk(viewer: Token2TextViewer) {
  const { list, isNarrow, siblings, session } = viewer;
  const { at, of } = list?.placeOf(viewer.row?.at) ?? { at: 0, of: session.rows.length };
  const go = (by: 1 | -1) => {
    const next = list?.neighbour(by);
    const row = next === undefined ? undefined : session.rows[next];
    if (row) viewer.select({ rollout: row.key });
  };
  return html`<div class="walk">
    ${isNarrow
      ? html`<button type="button" class="quiet" @click=${() => viewer.select({ rollout: undefined })}>${icon("back")}Rollouts</button>`
      : nothing}
    <button type="button" class="quiet icon" aria-label="Previous rollout" title="Previous rollout (p)" ?disabled=${at === 1} @click=${() => go(-1)}>
      ${icon("up")}
    </button>
    <button type="button" class="quiet icon" aria-label="Next rollout" title="Next rollout (n)" ?disabled=${at === of} @click=${() => go(1)}>
      ${icon("down")}
    </button>
    <span class="number">${at > 0 ? `${COUNT.format(at)} of ${COUNT.format(of)}` : "not in the list"}</span>
    <div class="end">
      ${siblings.length > 1
        ? html`<button type="button" title="Rollouts of the same sample side by side (s)" @click=${() => viewer.select({ siblings: true })}>
            ${icon("siblings")}Compare ${siblings.length}
          </button>`
        : nothing}
    </div>
  </div>`;
}

function noRollouts({ session: { isWhole, problems, loads, live } }: Token2TextViewer) {
  if (loads.some(({ state }) => state === "loading" || state === "waiting")) return html`<p>Reading…</p>`;
  if (problems.length > 0) return problems.slice(0, 5).map(problemLine);
  if (live.sources.length > 0) return waiting(live);
  return html`<strong>${isWhole ? "No rollouts in these traces" : "No traces are open"}</strong>
    <p>${isWhole ? "None of their fields holds token ids." : ""}</p>`;
}

function nothingSelected({ session, selection }: Token2TextViewer) {
  const isMissing = selection.rollout !== undefined && session.isWhole;
  return html`<div class="nothing">
    ${isMissing
      ? html`<strong>The rollout of the link is not here</strong>
          <p>It is in other traces than those that are open.</p>`
      : html`<strong>Choose a rollout</strong>
          <p>From the list, or with <kbd>n</kbd> and <kbd>p</kbd>. All keys: <kbd>?</kbd></p>`}
  </div>`;
}
