/** Files out of what was dropped or picked, those of folders too. */

/** A file, and where it lay: `run-7/tokenizer.json`. */
export interface Picked {
  file: File;
  path: string;
}

/** Kinds of files that hold traces or tokenizers. In a folder the others are passed over; what is picked by itself is always tried. */
const KINDS = /\.(jsonl?|ndjson|t2t|pb|bin|proto|otlp|sse|txt|log)(\.gz)?$|\.gz$/i;
/** What lies beside a model or a project and is neither. */
const OTHERS =
  /^(\..*|config\.json|(tokenizer|generation|preprocessor|processor|adapter|training|video_preprocessor).*_config\.json|added_tokens\.json|special_tokens_map\.json|vocab\.json|merges\.txt|.*\.index\.json|package(-lock)?\.json|tsconfig.*\.json|readme\.txt|license\.txt|requirements.*\.txt|pytorch_model\.bin)$/i;
const MOST_FILES = 10_000;

const isWanted = ({ path }: Picked) => {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return KINDS.test(name) && !OTHERS.test(name);
};

/** What was dropped. Must be called before the event's handler returns: the list is empty afterwards. */
export function dropped(transfer: DataTransfer): Promise<Picked[]> {
  const entries = [...transfer.items].filter(({ kind }) => kind === "file").map((item) => item.webkitGetAsEntry());
  const files = [...transfer.files];
  return Promise.all(
    entries.map(async (entry, at) => {
      if (entry?.isDirectory) return (await filesIn(entry as FileSystemDirectoryEntry)).filter(isWanted);
      const file = files[at];
      return file ? [{ file, path: file.name }] : [];
    }),
  ).then((lists) => lists.flat());
}

/** What was picked by a field. */
export function picked(input: HTMLInputElement): Picked[] {
  const files = [...(input.files ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
  input.value = "";
  return input.webkitdirectory ? files.filter(isWanted).slice(0, MOST_FILES) : files;
}

async function filesIn(directory: FileSystemDirectoryEntry): Promise<Picked[]> {
  const found: Picked[] = [];
  const directories = [directory];
  for (let next = directories.pop(); next && found.length < MOST_FILES; next = directories.pop()) {
    const reader = next.createReader();
    // It gives a hundred at a time, and none at the end.
    for (let entries = await read(reader); entries.length > 0; entries = await read(reader)) {
      for (const entry of entries) {
        if (entry.isDirectory) directories.push(entry as FileSystemDirectoryEntry);
        else found.push({ file: await fileOf(entry as FileSystemFileEntry), path: entry.fullPath.replace(/^\//, "") });
      }
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

const read = (reader: FileSystemDirectoryReader) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));
