/** The list of records: filtered by the search, put on the page as the reader comes near. */
import type { ShownRecord } from "./decode";
import { make, plural } from "./dom";
import { renderRecord } from "./record-view";
import { type TextMarker, textMarker } from "./special";

const BATCH = 30;

export class RecordList {
  #records: ShownRecord[] = [];
  #matching: ShownRecord[] = [];
  #shown = 0;
  #query = "";
  #mark: TextMarker = textMarker([]);
  #end = make("div", "end");
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly place: HTMLElement,
    private readonly status: HTMLElement,
  ) {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) this.#showMore();
    }, { rootMargin: "1200px" });
    observer.observe(this.#end);
  }

  /** Forgets everything; a new trace comes. */
  start(mark: TextMarker): void {
    this.#mark = mark;
    this.#records = [];
    this.#refresh();
  }

  add(records: ShownRecord[]): void {
    this.#records.push(...records);
    this.#matching.push(...records.filter((record) => this.#matches(record)));
    if (this.#shown < BATCH) this.#showMore();
    this.#tell();
  }

  search(query: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#query = query.trim().toLowerCase();
      this.#refresh();
    }, 120);
  }

  #matches(record: ShownRecord): boolean {
    return this.#query === "" || record.haystack.includes(this.#query);
  }

  #refresh(): void {
    this.#matching = this.#records.filter((record) => this.#matches(record));
    this.#shown = 0;
    const isEmpty = this.#matching.length === 0 && this.#query !== "";
    this.place.replaceChildren(...(isEmpty ? [make("p", "quiet nothing", "No record has this text.")] : []), this.#end);
    this.#showMore();
    this.#tell();
  }

  #showMore(): void {
    const next = this.#matching.slice(this.#shown, this.#shown + BATCH);
    if (next.length === 0) return;
    this.#shown += next.length;
    this.#end.before(...next.map((record) => renderRecord(record, this.#mark, this.#query)));
    // The observer only speaks when the end moves in or out of sight, which it may not have done.
    requestAnimationFrame(() => {
      if (this.#end.getBoundingClientRect().top < innerHeight + 1200) this.#showMore();
    });
  }

  #tell(): void {
    const [found, all] = [this.#matching.length, this.#records.length];
    this.status.textContent = this.#query === "" ? plural(all, "record") : `${found.toLocaleString("en")} of ${plural(all, "record")}`;
  }
}
