/** One line on the terminal that says how far the work is; nothing where the standard error is not a terminal. */
export class Progress {
  #bytes = 0;
  #records = 0;
  #shown = 0;
  #visible;
  /** @type {{ name: string, size?: number, records?: number }} */
  #file = { name: "" };

  /** @param {boolean} visible */
  constructor(visible) {
    this.#visible = visible && process.stderr.isTTY === true;
  }

  /** @param {string} name @param {number} [size] */
  startFile(name, size) {
    this.#start({ name, size });
  }

  /** Of something that is counted in records alone. @param {string} name @param {number} records */
  startRecords(name, records) {
    this.#start({ name, records });
  }

  /** @param {number} count */
  addBytes(count) {
    this.#bytes += count;
    this.#show();
  }

  addRecord() {
    this.addRecords(1);
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

  /** @param {{ name: string, size?: number, records?: number }} file */
  #start(file) {
    this.#file = file;
    this.#bytes = 0;
    this.#records = 0;
  }

  #show() {
    const now = Date.now();
    if (!this.#visible || now - this.#shown < 100) return;
    this.#shown = now;
    const { name, size, records } = this.#file;
    const [done, all] = records === undefined ? [this.#bytes, size] : [this.#records, records];
    const part = all ? `${Math.min(100, Math.floor((done / all) * 100))} %` : formatBytes(this.#bytes);
    process.stderr.write(`\r\x1b[K${name}: ${part}, ${this.#records} records`);
  }
}

/** @param {number} bytes */
function formatBytes(bytes) {
  return bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
