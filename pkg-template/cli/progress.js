/** One line on the terminal that says how far the work is; nothing where the standard error is not a terminal. */
export class Progress {
  #bytes = 0;
  #records = 0;
  #shown = 0;
  #visible;
  /** What the work is on: something of bytes, or of records alone. @type {{ name: string, counts: "bytes" | "records", all?: number }} */
  #work = { name: "", counts: "bytes" };

  /** @param {boolean} visible */
  constructor(visible) {
    this.#visible = visible && process.stderr.isTTY === true;
    // Also where Ctrl-C ends it.
    if (this.#visible) process.once("exit", () => this.clear());
  }

  /** @param {string} name @param {number} [size] */
  startFile(name, size) {
    this.#start({ name, counts: "bytes", all: size });
  }

  /** @param {string} name @param {number} [records] */
  startRecords(name, records) {
    this.#start({ name, counts: "records", all: records });
  }

  /** @param {number} count */
  addBytes(count) {
    this.#bytes += count;
    this.#show();
  }

  addRecord() {
    this.addRecords(1);
  }

  /** How many records are done, and how many there are. @param {number} done @param {number} all */
  show(done, all) {
    this.#work.all = all;
    this.#records = done;
    this.#show();
  }

  /** @param {number} count */
  addRecords(count) {
    this.#records += count;
    this.#show();
  }

  /** Removes the line, so that other text can be written. */
  clear() {
    if (this.#shown > 0) process.stderr.write("\r\x1b[K");
    this.#shown = 0;
  }

  /** @param {{ name: string, counts: "bytes" | "records", all?: number }} work */
  #start(work) {
    this.#work = work;
    this.#bytes = 0;
    this.#records = 0;
  }

  #show() {
    const now = Date.now();
    if (!this.#visible || now - this.#shown < 100) return;
    this.#shown = now;
    const { name, counts, all } = this.#work;
    const done = counts === "bytes" ? this.#bytes : this.#records;
    const part = all ? `${Math.min(100, Math.floor((done / all) * 100))} %, ` : counts === "bytes" ? `${formatBytes(done)}, ` : "";
    process.stderr.write(`\r\x1b[K${name}: ${part}${this.#records} records`);
  }
}

/** @param {number} bytes */
function formatBytes(bytes) {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
