/** Debian's Chromium: one for all files of tests, each of which connects to it. */
import { chromium } from "playwright-core";

const ARGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** A browser that other processes can use. */
export function startChromium() {
  return chromium.launchServer({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
}

/** The browser that `run.js` started. */
export async function connectChromium() {
  const address = process.env.TOKEN2TEXT_CHROMIUM;
  if (!address) throw new Error("start these tests with `node tests/viewer/run.js [words of file names]`");
  return chromium.connect(address);
}
