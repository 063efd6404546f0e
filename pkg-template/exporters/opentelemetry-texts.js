/** The texts of the spans that OpenTelemetry's SDK exports together. */
import { asToken2TextError } from "../errors.js";
import { hasAttributes, partsOf, requestPart, resourceMessage, withWritten } from "./opentelemetry-span.js";
import { concat } from "./wire.js";

/** @typedef {import("./opentelemetry-span.js").SpanLike} SpanLike */
/** @typedef {import("../report.js").Report} Report */
/**
 * What became of a span with ids: as in a report, with addresses in the span. `error`: it could not be looked into, and is exported as it is.
 *
 * @template Span
 * @typedef {{ span: Span } & Pick<Report, "fields" | "warnings"> & { messages: NonNullable<Report["messages"]>, error?: import("../errors.js").Token2TextError }} Told
 */
/** A span with its part of a request, and its place among all. @template Span @typedef {{ span: Span, part: Uint8Array, place: number }} Part */

const ORIGIN = { contentType: "application/x-protobuf" };
/** Parts that are enriched in one call, which costs as much as some small spans; more would only take memory. */
const MAX_BYTES = 1 << 20;
/** How the address of anything in a part begins, with the number of the part. */
const ADDRESS = /^\/resourceSpans\/(\d+)\/scopeSpans\/0\/spans\/0/;

/**
 * The spans with their texts; those in which nothing was written are the very same.
 *
 * @template {SpanLike} Span
 * @param {readonly Span[]} spans
 * @param {import("../enricher.js").Enricher} enricher
 * @param {(told: Told<Span>) => void} tell
 * @returns {Span[]}
 */
export function withTextsOf(spans, enricher, tell) {
  const result = [...spans];
  /** @param {Part<Span>[]} group */
  const enrichGroup = (group) => {
    try {
      const { body, report } = enricher.enrichBody(concat(group.map(({ part }) => part)), ORIGIN);
      // Most spans of most programs have no ids.
      if (report.fields.length + report.warnings.length === 0) return;
      const enriched = partsOf(body);
      const copies = group.map(({ span, part }, i) => withWritten(span, part, enriched[i]));
      for (const [i, { place }] of group.entries()) result[place] = copies[i];
      for (const [i, told] of toldBySpan(report)) tell({ span: group[i].span, ...told });
    } catch (error) {
      const middle = group.length >> 1;
      if (middle === 0) return tell(failure(group[0].span, error));
      // One of them is too large, or something is wrong with it.
      enrichGroup(group.slice(0, middle));
      enrichGroup(group.slice(middle));
    }
  };
  for (const group of groups(partsFor(spans, tell))) enrichGroup(group);
  return result;
}

/** @template {SpanLike} Span @param {readonly Span[]} spans @param {(told: Told<Span>) => void} tell @returns {Part<Span>[]} */
function partsFor(spans, tell) {
  /** Many spans ran on the same. @type {Map<SpanLike["resource"], Uint8Array>} */
  const resources = new Map();
  const parts = [];
  for (const [place, span] of spans.entries()) {
    try {
      if (!hasAttributes(span)) continue;
      const resource = resources.get(span.resource) ?? resourceMessage(span.resource);
      resources.set(span.resource, resource);
      parts.push({ span, part: requestPart(span, resource), place });
    } catch (error) {
      tell(failure(span, error));
    }
  }
  return parts;
}

/** @template Span @param {Part<Span>[]} parts @returns {Part<Span>[][]} */
function groups(parts) {
  /** @type {Part<Span>[][]} */
  const all = [];
  let bytes = Infinity;
  for (const part of parts) {
    bytes += part.part.length;
    if (bytes <= MAX_BYTES) all[all.length - 1].push(part);
    else {
      all.push([part]);
      bytes = part.part.length;
    }
  }
  return all;
}

/** @template Span @param {Span} span @param {unknown} error @returns {Told<Span>} */
function failure(span, error) {
  return { span, fields: [], warnings: [], messages: [], error: asToken2TextError(error) };
}

/** What a report says of each span that it says anything of, by its number. @param {Report} report @returns {Map<number, Omit<Told<unknown>, "span">>} */
function toldBySpan({ fields, warnings, messages = [] }) {
  /** @type {Map<number, Omit<Told<unknown>, "span">>} */
  const told = new Map();
  for (const [name, entries] of Object.entries({ fields, warnings, messages })) {
    for (const { path, ...entry } of entries) {
      const [address, number] = ADDRESS.exec(path) ?? [];
      if (address === undefined) continue;
      const inside = (/** @type {string} */ path) => path.slice(address.length);
      const ofSpan = told.get(Number(number)) ?? { fields: [], warnings: [], messages: [] };
      told.set(Number(number), ofSpan);
      const { textPath, idsDropped } = /** @type {Partial<import("../report.js").ReportField>} */ (entry);
      /** @type {unknown[]} */ (ofSpan[/** @type {keyof typeof ofSpan} */ (name)]).push({
        ...entry,
        path: inside(path),
        ...(textPath !== undefined && { textPath: inside(textPath) }),
        ...(idsDropped && { idsDropped: idsDropped.map(inside) }),
      });
    }
  }
  return told;
}
