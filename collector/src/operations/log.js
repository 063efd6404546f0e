/** Structured logs, a JSON line each, on standard error; nothing of a payload is in them. */
import { pino } from "pino";

/** @param {import("../types.js").Configuration["logLevel"]} level */
export function createLog(level) {
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(2));
}
