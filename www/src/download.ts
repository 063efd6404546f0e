import type { Engine, OnProgress } from "./engine/contract.js";

/** Saves the traces with their texts, a file for each that was opened. */
export async function downloadEnriched(engine: Engine, onProgress: OnProgress): Promise<void> {
  for (const { name, blob } of await engine.enriched(onProgress)) {
    const url = URL.createObjectURL(blob);
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    // The browser reads it after this task.
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  }
}
