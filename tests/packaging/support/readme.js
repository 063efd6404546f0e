/** The fenced blocks of the package's README. */

/**
 * @typedef {object} Block
 * @property {string} language
 * @property {string} [file] Where the block says it belongs: `js file=main.mjs`.
 * @property {string} text
 */
/** @typedef {{ title: string, blocks: Block[] }} Section */

/** The sections that have blocks. @param {string} markdown @returns {Section[]} */
export function readSections(markdown) {
  /** @type {Section[]} */
  const sections = [{ title: "", blocks: [] }];
  const parts = /^#+ (?<title>.*)$|^```(?<language>\S+)(?: file=(?<file>\S+))?\n(?<text>[^]*?)^```$/gm;
  for (const { groups = {} } of markdown.matchAll(parts)) {
    const { title, language, file, text } = groups;
    if (title !== undefined) sections.push({ title, blocks: [] });
    else sections[sections.length - 1].blocks.push({ language, file, text });
  }
  return sections.filter(({ blocks }) => blocks.length > 0);
}

/**
 * The commands of a `sh` block, each with what it prints: the comment lines below it.
 *
 * @param {string} text
 * @returns {{ command: string, output?: string }[]}
 */
export function readCommands(text) {
  /** @type {{ command: string, output?: string }[]} */
  const commands = [];
  for (const line of text.trimEnd().split("\n")) {
    const last = commands[commands.length - 1];
    if (line.startsWith("# ")) last.output = `${last.output ?? ""}${line.slice(2)}\n`;
    else commands.push({ command: line });
  }
  return commands;
}
