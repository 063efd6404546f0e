/** Requests of OTLP in JSON as the spans that OpenTelemetry's SDK would have exported, so that recorded ones can be exported again. */

/** @typedef {import("@opentelemetry/sdk-trace-base").ReadableSpan} ReadableSpan */
/** @typedef {{ key: string, value?: any }[]} Pairs */

/** @param {Uint8Array} request @returns {ReadableSpan[]} */
export function readableSpans(request) {
  const { resourceSpans } = JSON.parse(new TextDecoder().decode(request));
  return resourceSpans.flatMap((/** @type {any} */ { resource, scopeSpans }) => {
    const ranOn = { attributes: attributesOf(resource?.attributes) };
    return scopeSpans.flatMap((/** @type {any} */ { scope, spans }) => spans.map((/** @type {any} */ span) => readable(span, ranOn, { name: scope?.name ?? "" })));
  });
}

/** @param {any} span @param {object} resource @param {object} instrumentationScope @returns {ReadableSpan} */
function readable(span, resource, instrumentationScope) {
  const { traceId = "1".repeat(32), spanId = "1".repeat(16), name = "", attributes, events = [] } = span;
  return /** @type {any} */ ({
    name,
    kind: 0,
    spanContext: () => ({ traceId, spanId, traceFlags: 1 }),
    startTime: [1, 2],
    endTime: [3, 4],
    duration: [2, 2],
    ended: true,
    status: { code: 0 },
    attributes: attributesOf(attributes),
    events: events.map((/** @type {any} */ event) => ({ name: event.name ?? "", time: [1, 3], attributes: attributesOf(event.attributes) })),
    links: [],
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  });
}

/** @param {Pairs} [pairs] */
function attributesOf(pairs = []) {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]));
}

/** @param {any} value @returns {unknown} */
function valueOf({ stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue, bytesValue } = {}) {
  if (intValue !== undefined || doubleValue !== undefined) return Number(intValue ?? doubleValue);
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf);
  if (kvlistValue !== undefined) return attributesOf(kvlistValue.values);
  if (bytesValue !== undefined) return Uint8Array.from(Buffer.from(bytesValue, "base64"));
  return stringValue ?? boolValue;
}
