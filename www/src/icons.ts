import { html } from "lit";

/** Lines of sixteen by sixteen. */
const PATHS = {
  drop: "M8 2v8M4.8 7 8 10.2 11.2 7M2.5 10.5v2a1 1 0 0 0 1 1h9a1 1 0 0 0 1-1v-2",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10M10.6 10.6 14 14",
  open: "M2 12.5v-9a1 1 0 0 1 1-1h3l1.5 2H13a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1",
  up: "M3.5 10 8 5.5 12.5 10",
  down: "M3.5 6 8 10.5 12.5 6",
  back: "M10 3.5 5.5 8l4.5 4.5",
  forth: "M6 3.5 10.5 8 6 12.5",
  close: "M4 4l8 8M12 4l-8 8",
  help: "M6.2 6.1A1.9 1.9 0 1 1 8 8.2v1M8 11.4v.1M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4",
  save: "M8 2v7M5 6.4 8 9.4l3-3M2.5 12.8h11",
  light: "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6M8 1.4v1.4M8 13.2v1.4M1.4 8h1.4M13.2 8h1.4M3.3 3.3l1 1M11.7 11.7l1 1M12.7 3.3l-1 1M4.3 11.7l-1 1",
  dark: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8",
  auto: "M8 2a6 6 0 1 0 0 12ZM8 2a6 6 0 0 1 0 12",
  warning: "M8 2.4 14.2 13.2H1.8ZM8 6.6v3M8 11.3v.1",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.2v9.6L12.5 8Z",
  siblings: "M2.5 2.5h3v11h-3ZM6.5 2.5h3v11h-3ZM10.5 2.5h3v11h-3Z",
};
export type IconName = keyof typeof PATHS;

export const icon = (name: IconName, size = 16) =>
  html`<svg width=${size} height=${size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width=${size > 20 ? 1.1 : 1.4}
    stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${PATHS[name]}></path></svg>`;
