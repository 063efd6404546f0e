/** A server in this process that takes what the exporters send, answers as each backend does, and keeps it. */
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { listening } from "./server.js";

/** @typedef {{ path: string, body: Buffer }} Received */
/** What is done in place of an answer; a number is a status. @typedef {(path: string) => Promise<number | void> | number | void} Fault */

/** The start of a path, and what is answered there. @type {[string, string][]} */
const ANSWERS = [
  ["/api/2.0/mlflow/experiments/get-by-name", '{"experiment":{"experiment_id":"1","lifecycle_stage":"active"}}'],
  ["/api/3.0/mlflow/traces", '{"trace":{"trace_info":{}}}'],
  ["/ajax-api/3.0/mlflow/get-trace-artifact", '{"spans":[]}'],
  ["/v1/traces", ""],
  ["/api/bulk_log", '{"data":null}'],
  ["/v2/", "{}"],
];

export class TraceServer {
  url = "";
  /** @type {Received[]} */
  received = [];
  /** @type {Fault} */
  fault = () => {};
  #server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await buffer(request);
    const status = await this.fault(path);
    if (status) return void response.writeHead(status).end("as planned");
    this.received.push({ path, body: body[0] === 0x1f ? gunzipSync(body) : body });
    response.end(ANSWERS.find(([start]) => path.startsWith(start))?.[1]);
  });

  constructor() {
    listening(this.#server, (url) => (this.url = url));
  }

  /** Forgets everything. */
  reset() {
    this.received = [];
    this.fault = () => {};
  }

  /** The bodies that came to paths with this end. @param {string} end */
  bodies(end) {
    return this.received.filter(({ path }) => path.endsWith(end)).map(({ body }) => body);
  }

  /** The entries of all bodies of `bulk_log`. @returns {any[]} */
  entries() {
    return this.bodies("/api/bulk_log").flatMap((body) => JSON.parse(body.toString()).logs);
  }
}
