/** Recorded bodies, real tokenizers, and files that are made for a test. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const FIXTURES = join(ROOT, "tests/fixtures");

/** A file of tests/fixtures. @param {string} path */
export const fixture = (path) => join(FIXTURES, path);
/** A real tokenizer.json. @param {string} key */
export const tokenizerOf = (key) => join(ROOT, ".cache/tokenizers", key, "tokenizer.json");

/** @typedef {{ kind: string, status: string, ids?: number[], text: string, where?: string[], tokenizer?: string }} Expected */
/** What the reference library makes of the ids of a capture. @param {string} capture @returns {Expected[]} */
export const expectedOf = (capture) => JSON.parse(readFileSync(fixture(`captures/${capture}/expected.json`), "utf8"));

/** A folder that is gone when the tests of the file are done; gives the path of a file that it wrote there. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "token2text-viewer-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  /** @param {string} name @param {string | Uint8Array | object} content What is no text and no bytes is written as JSON. */
  const write = (name, content) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content));
    return path;
  };
  return { folder, write };
}

/** @typedef {{ prompt: number[], response: number[], logprobs?: number[], more?: object, outputs?: object, attributes?: object, requestId?: string, name?: string, traceId?: string }} Call */
/** A call as verl traces it. @param {Call} call */
export function callRecord({ prompt, response, logprobs, outputs, attributes, requestId = "r1", name = "LLMServerClient.generate", traceId, more }) {
  return {
    ...(traceId && { trace_id: traceId }),
    name,
    inputs: { request_id: requestId, prompt_ids: prompt },
    outputs: { token_ids: response, ...(logprobs && { log_probs: logprobs }), ...outputs },
    ...(attributes && { attributes }),
    ...more,
  };
}

/** @param {object[]} records */
export const jsonLines = (records) => records.map((record) => `${JSON.stringify(record)}\n`).join("");
