/** The way of one file through a command: lines or a whole document in, the same with text out. */
import { stat } from "node:fs/promises";
import { Token2TextError } from "../node.js";
import { UsageError } from "./args.js";
import { displayName, readInput } from "./input.js";
import { isBlank, isWholeValue, splitLines } from "./lines.js";
import { openOutput } from "./output.js";
import { MAX_BODY } from "./setup.js";

/** @typedef {import("../report.js").Report} Report */
/** @typedef {import("./lines.js").Line} Line */
/**
 * @typedef {object} Job
 * @property {(body: Uint8Array, file: string) => { body: Uint8Array, report?: Report }} change One record or document.
 * @property {(report: Report, file: string, line?: number) => void} onReport
 * @property {(error: Token2TextError, file: string, line: number) => void} onBroken
 * @property {import("./progress.js").Progress} progress
 */

/** After so many blank lines, lines are what follows: all before the first that is not blank are held. */
const MOST_BLANK = 100_000;

/**
 * @param {string} file
 * @param {string | undefined} outputPath
 * @param {Job} job
 */
export async function runFile(file, outputPath, job) {
  const size = file === "-" ? undefined : (await stat(file).catch(() => undefined))?.size;
  job.progress.startFile(displayName(file), size);
  const batches = splitLines(
    readInput(file, (bytes) => job.progress.addBytes(bytes)),
    MAX_BODY,
  );
  /** @type {import("./output.js").Output | undefined} */
  let output;
  try {
    for await (const bytes of changed(file, batches, job)) {
      output ??= openOutput(outputPath);
      await output.write(bytes);
    }
    output ??= openOutput(outputPath);
    await output.commit();
  } catch (error) {
    output?.abandon();
    throw error;
  }
}

/**
 * Lines up to the first that is not blank decide: a whole JSON value means JSON lines, anything else a document. A first
 * line that is too long to hold ends the file: it may be a few bytes of gzip that would fill a disk.
 *
 * @param {string} file
 * @param {AsyncGenerator<Line[]>} batches
 * @param {Job} job
 */
async function* changed(file, batches, job) {
  /** @type {Line[]} */
  let start = [];
  let first;
  while (!first && start.length < MOST_BLANK) {
    const { done, value } = await batches.next();
    if (done) break;
    start = start.concat(value);
    first = value.find((line) => !isBlank(line.content));
  }
  if (first?.oversize) throw tooLarge(file, "it begins with a line");
  if (!first || isWholeValue(first.content)) {
    yield* changedLines(file, chain(start, batches), job);
  } else {
    yield* changedDocument(file, chain(start, batches), job);
  }
}

/** @param {Line[]} first @param {AsyncGenerator<Line[]>} rest */
async function* chain(first, rest) {
  yield first;
  yield* rest;
}

/** @param {string} file @param {AsyncIterable<Line[]>} batches @param {Job} job */
async function* changedLines(file, batches, job) {
  let number = 0;
  let startsLine = true;
  for await (const lines of batches) {
    const parts = [];
    for (const line of lines) {
      if (startsLine) number++;
      const changed = line.oversize ? tooLong(file, number, startsLine, line, job) : changedLine(file, number, line, job);
      parts.push(changed, line.ending);
      startsLine = line.ending.length > 0;
    }
    if (parts.length > 0) yield Buffer.concat(parts);
  }
}

/** A broken line is copied and told. @param {string} file @param {number} number @param {Line} line @param {Job} job */
function changedLine(file, number, line, job) {
  if (isBlank(line.content)) return line.content;
  try {
    const { body, report } = job.change(line.content, nameOf(file));
    if (report) job.onReport(report, file, number);
    job.progress.addRecord();
    return body;
  } catch (error) {
    if (!isAboutTheBody(error)) throw error;
    job.onBroken(error, file, number);
    return line.content;
  }
}

/** @param {string} file @param {number} number @param {boolean} isFirstPart @param {Line} line @param {Job} job */
function tooLong(file, number, isFirstPart, line, job) {
  const error = new Token2TextError("limit_exceeded", `the line is longer than ${MAX_BODY >> 20} MiB`);
  if (isFirstPart) job.onBroken(error, file, number);
  return line.content;
}

/**
 * A document that is not one may be JSON lines whose first line is broken.
 *
 * @param {string} file
 * @param {AsyncIterable<Line[]>} batches
 * @param {Job} job
 */
async function* changedDocument(file, batches, job) {
  const lines = [];
  let length = 0;
  for await (const batch of batches) {
    for (const line of batch) {
      lines.push(line);
      length += line.content.length + line.ending.length;
      if (length > MAX_BODY) throw tooLarge(file, "it is a document");
    }
  }
  try {
    const { body, report } = job.change(Buffer.concat(lines.flatMap((line) => [line.content, line.ending])), nameOf(file));
    if (report) job.onReport(report, file);
    job.progress.addRecord();
    yield Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    return;
  } catch (error) {
    if (!isAboutTheBody(error)) throw error;
    if (!lines.some((line) => isWholeValue(line.content))) {
      throw new UsageError(`${displayName(file)}: ${error.code}: ${error.message}`);
    }
  }
  yield* changedLines(file, toAsync(lines), job);
}

/** @param {string} file @param {string} what */
function tooLarge(file, what) {
  return new UsageError(`${displayName(file)}: limit_exceeded: ${what} of more than ${MAX_BODY >> 20} MiB`);
}

/** What tells of the format: `answer.sse.gz` is read as `answer.sse`. @param {string} file */
function nameOf(file) {
  return file.replace(/\.gz$/, "");
}

/** @param {Line[]} lines */
async function* toAsync(lines) {
  yield lines;
}

/** @param {unknown} error @returns {error is Token2TextError} */
function isAboutTheBody(error) {
  const codes = ["invalid_body", "unknown_format", "compressed_input", "limit_exceeded"];
  return error instanceof Token2TextError && codes.includes(error.code);
}
