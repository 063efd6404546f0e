/** Packed tokenizers in IndexedDB, no more than so many: those that were not used for the longest time go. */

/** @typedef {{ version: string, etag: string | null, lastModified: string | null, packed: Uint8Array }} Entry */
/** @typedef {{ maxEntries: number, maxBytes: number }} Bounds */
/** @typedef {{ bytes: number, used: number }} Use */

const DATABASE = "token2text";
/** The entries, and apart from them what tells which one goes: an object each, under the same keys. */
const STORES = ["tokenizers", "uses"];

/** @param {string} key @returns {Promise<Entry | undefined>} */
export async function readEntry(key) {
  /** @type {Entry | undefined} */
  let entry;
  await transact("readonly", (entries) => {
    const request = entries.get(key);
    request.onsuccess = () => (entry = request.result);
  });
  return entry;
}

/** Notes that an entry was used just now. @param {string} key */
export function touchEntry(key) {
  return transact("readwrite", (_, uses) => {
    const request = uses.get(key);
    request.onsuccess = () => {
      if (request.result) uses.put({ ...request.result, used: Date.now() }, key);
    };
  });
}

/**
 * Writes an entry in place of others.
 *
 * @param {string} key
 * @param {Entry} entry
 * @param {Bounds} bounds
 */
export function writeEntry(key, entry, { maxEntries, maxBytes }) {
  return transact("readwrite", (entries, uses) => {
    const own = { bytes: entry.packed.length, used: Date.now() };
    const keys = uses.getAllKeys();
    const values = uses.getAll();
    values.onsuccess = () => {
      const others = values.result.map((/** @type {Use} */ use, i) => ({ key: keys.result[i], ...use })).filter((other) => other.key !== key);
      others.sort((a, b) => b.used - a.used);
      let bytes = own.bytes;
      let count = 1;
      for (const other of others) {
        bytes += other.bytes;
        count++;
        if (count <= maxEntries && bytes <= maxBytes) continue;
        entries.delete(other.key);
        uses.delete(other.key);
      }
      entries.put(entry, key);
      uses.put(own, key);
    };
  });
}

/** What is kept, without the tokenizers themselves. @returns {Promise<(Use & { key: string })[]>} */
export async function listEntries() {
  /** @type {(Use & { key: string })[]} */
  let entries = [];
  await transact("readonly", (_, uses) => {
    const keys = uses.getAllKeys();
    const values = uses.getAll();
    values.onsuccess = () => (entries = values.result.map((/** @type {Use} */ use, i) => ({ key: String(keys.result[i]), ...use })));
  });
  return entries;
}

/** @param {string[]} keys */
export function deleteEntries(keys) {
  return transact("readwrite", (...stores) => stores.forEach((store) => keys.forEach((key) => store.delete(key))));
}

/**
 * One transaction, to its end: what is asked for in it was then done.
 *
 * @param {IDBTransactionMode} mode
 * @param {(entries: IDBObjectStore, uses: IDBObjectStore) => void} ask
 * @returns {Promise<void>}
 */
async function transact(mode, ask) {
  const database = await open();
  try {
    await new Promise((resolve, reject) => {
      const transaction = database.transaction(STORES, mode);
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error ?? new Error("the transaction was ended"));
      ask(transaction.objectStore(STORES[0]), transaction.objectStore(STORES[1]));
    });
  } finally {
    database.close();
  }
}

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => STORES.forEach((name) => request.result.createObjectStore(name));
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
