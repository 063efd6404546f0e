/** One of the two places where a file goes in: drop zone, file picker, progress, status and error. */

export class SourceBox {
  #input: HTMLInputElement;
  #progress: HTMLProgressElement;
  #status: HTMLElement;
  #error: HTMLElement;

  constructor(
    private readonly box: HTMLElement,
    private readonly onSource: (source: Blob | URL, name: string) => Promise<void>,
  ) {
    this.#input = box.querySelector("input")!;
    this.#progress = box.querySelector("progress")!;
    this.#status = box.querySelector(".status")!;
    this.#error = box.querySelector(".error")!;
    this.#input.addEventListener("change", () => {
      const file = this.#input.files?.[0];
      if (file) void this.take(file);
      this.#input.value = ""; // the same file may be chosen again after a change
    });
    acceptDrops(box, (file) => this.take(file));
  }

  take(file: File): Promise<void> {
    return this.onSource(file, file.name);
  }

  takeUrl(url: URL): Promise<void> {
    return this.onSource(url, url.pathname.split("/").pop()!);
  }

  /** Shows that work goes on; its result is the new status, its failure the error. A given-up one says nothing. */
  async work(status: string, signal: AbortSignal, task: () => Promise<string>): Promise<void> {
    this.#show("busy", status, "");
    this.progress(0);
    try {
      const result = await task();
      if (!signal.aborted) this.#show("done", result, "");
    } catch (error) {
      if (!signal.aborted) this.#show("failed", "", error instanceof Error ? error.message : String(error));
    }
  }

  /** A part from 0 to 1, or undefined where the end is not known. */
  progress(part: number | undefined): void {
    if (part === undefined) this.#progress.removeAttribute("value");
    else this.#progress.value = part;
  }

  #show(state: "busy" | "done" | "failed", status: string, error: string): void {
    this.box.dataset.state = state;
    this.#progress.hidden = state !== "busy";
    this.#status.textContent = status;
    this.#error.textContent = error;
  }
}

/** Takes the files dropped on an element. The inner one of two nested elements wins. */
export function acceptDrops(target: HTMLElement, onFile: (file: File) => Promise<void>): void {
  let depth = 0;
  const mark = (change: number) => {
    depth = change === 0 ? 0 : depth + change;
    target.classList.toggle("dragging", depth > 0);
  };
  target.addEventListener("dragenter", () => mark(1));
  target.addEventListener("dragleave", () => mark(-1));
  target.addEventListener("dragover", (event) => event.preventDefault());
  target.addEventListener("drop", (event) => {
    mark(0);
    if (event.defaultPrevented) return;
    event.preventDefault();
    for (const file of event.dataTransfer?.files ?? []) void onFile(file);
  });
}
