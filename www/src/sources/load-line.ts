import { html, nothing } from "lit";
import type { Problem, Progress } from "../engine/contract.js";
import type { Load } from "../session.js";
import { plain } from "../text/safe-text.js";

const UNITS = ["bytes", "kB", "MB", "GB"];

/** `12.3 MB`. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** The name stands beside it. */
function progressText({ what, done, total }: Progress, name: string): string {
  const doing = plain(what.endsWith(name) ? what.slice(0, -name.length).trim() : what, 60);
  if (total) return `${doing} ${formatBytes(done)} of ${formatBytes(total)}`;
  return done > 0 ? `${doing} ${formatBytes(done)}` : doing;
}

/** How the loading of something goes, with what one can do about it. */
export function loadLine(load: Load, { cancel }: { cancel: () => void }) {
  const { name, state, progress, failure } = load;
  const isRunning = state === "loading" || state === "waiting";
  const words = { waiting: "Waiting", loading: progress ? progressText(progress, name) : "Starting", done: "", failed: "", cancelled: "Cancelled" }[state];
  return html`<li class="load ${failure && state === "failed" ? "failed error" : ""}">
    <div class="line">
      <span class="name ellipsis" title=${plain(name)}>${plain(name, 120)}</span>
      <span class="faint number" aria-live="off">${words}</span>
      <button type="button" class="quiet small" @click=${cancel}>${isRunning ? "Cancel" : "Dismiss"}</button>
    </div>
    ${isRunning
      ? progress?.total
        ? html`<progress aria-label="Loading ${plain(name, 60)}" max=${progress.total} value=${progress.done}></progress>`
        : html`<progress aria-label="Loading ${plain(name, 60)}"></progress>`
      : nothing}
    ${state === "failed" && failure
      ? html`<p class="why" role="alert">${plain(failure.message, 600)} <span class="code">${plain(failure.code, 60)}</span></p>`
      : nothing}
  </li>`;
}

/** Something that could not be read, where nothing else was read either. */
export function problemLine({ source, code, message, count }: Problem) {
  return html`<div class="failed error">
    <div class="line"><span class="name ellipsis" title=${plain(source)}>${plain(source, 120)}</span>${count > 1 ? html`<span class="faint">${count}×</span>` : nothing}</div>
    <p class="why" role="alert">${plain(message, 600)} <span class="code">${plain(code, 60)}</span></p>
  </div>`;
}
