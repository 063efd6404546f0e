import { html, nothing } from "lit";
import { icon } from "../icons.js";
import type { Followed, Live } from "../live.js";
import { plain } from "../text/safe-text.js";

/** That what comes is shown as it comes, and the switch for it. */
export function liveSign(live: Live) {
  if (live.sources.length === 0) return nothing;
  const { isPaused } = live;
  const state = isPaused ? "paused" : live.isLost ? "lost" : "on";
  const word = { paused: "Paused", lost: "Offline", on: "Live" }[state];
  const names = live.sources.map(({ source }) => plain(source, 80)).join(", ");
  const title = isPaused ? `Go on showing what comes: ${names}` : `What comes is shown as it comes: ${names}. Press to pause`;
  return html`<button type="button" class="live ${state}" part="live" title=${title} @click=${() => live.pause(!isPaused)}>
    <i aria-hidden="true"></i>${word}<span class="unseen">: ${isPaused ? "go on" : "pause"}</span>${icon(isPaused ? "play" : "pause", 12)}
  </button>`;
}

/** Whether there is anything to say in words. */
export const isToldOf = ({ isPaused }: Live, { state, isBack }: Followed): boolean => !isPaused && (state === "lost" || isBack === true);

/** In words: that a source was lost, or is back. */
export function followedLine(live: Live, { source, state, message, retryAt }: Followed) {
  const seconds = Math.max(0, Math.ceil(((retryAt ?? 0) - Date.now()) / 1000));
  return html`<li class="line followed ${state}">
    <span class="name ellipsis" title=${plain(source)}>${plain(source, 120)}</span>
    <span class="says" role="status">${state === "lost" ? html`The connection is lost: ${plain(message ?? "", 300)}.` : "The connection is back."}</span>
    ${state === "lost"
      ? html`<span class="faint number" aria-hidden="true">${seconds > 0 ? `next try in ${seconds} s` : "trying"}</span>
          <button type="button" class="quiet small" @click=${() => live.retry()}>Try now</button>`
      : nothing}
  </li>`;
}

/** Where a source is followed that has nothing yet. */
export function waiting(live: Live) {
  return html`<i class="breath" aria-hidden="true"></i>
    <strong>Waiting for the first rollouts</strong>
    <p>They come into sight as the collector receives them. Send them there by OTLP:</p>
    ${live.sources.map(({ url }) => html`<code>OTEL_EXPORTER_OTLP_ENDPOINT=${plain(url.replace(/\/+$/, ""), 200)}</code>`)}
    <ul>
      ${live.sources.filter((one) => isToldOf(live, one)).map((one) => followedLine(live, one))}
    </ul>`;
}
