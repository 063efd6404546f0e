/**
 * HTTP/1.1 on a port, and an answer to those who begin with HTTP/2 there: nearly always exporters that speak gRPC, which print
 * what its trailers say and nothing else.
 */
import { createServer } from "node:http";
import { constants, createServer as createHttp2Server } from "node:http2";
import { NO_GRPC } from "./refusal.js";
import { isGrpc } from "./request.js";

/** What every connection of HTTP/2 begins with (RFC 9113, 3.4), and no method of HTTP/1. */
const PREFACE = Buffer.from("PRI ");
/** A connection that says nothing for that long is closed, as by `node:http`. */
const FIRST_BYTES_MILLIS = 60_000;
const UNIMPLEMENTED = "12";

/**
 * A server for HTTP/1.1, not yet listening.
 *
 * @param {import("node:http").RequestListener} handler
 */
export function createOnePort(handler) {
  const http1 = createServer(handler);
  const http2 = refusingHttp2();
  const accept = http1.listeners("connection");
  /** @type {Set<import("node:net").Socket>} */
  const silent = new Set();
  http1.removeAllListeners("connection");
  http1.on("connection", async (/** @type {import("node:net").Socket} */ socket) => {
    silent.add(socket);
    const isHttp2 = await beginsWithPreface(socket);
    silent.delete(socket);
    if (isHttp2) http2.emit("connection", socket);
    else for (const listener of accept) listener.call(http1, socket);
  });
  const closeIdle = http1.closeIdleConnections.bind(http1);
  http1.closeIdleConnections = () => {
    for (const socket of silent) socket.destroy();
    closeIdle();
  };
  return http1;
}

/** Looks at the first bytes, which stay to be read. @param {import("node:net").Socket} socket @returns {Promise<boolean>} */
function beginsWithPreface(socket) {
  return new Promise((resolve) => {
    let seen = Buffer.alloc(0);
    const done = (/** @type {boolean} */ isHttp2) => {
      socket.off("readable", look).off("error", ended).off("close", ended).setTimeout(0);
      if (seen.length > 0) socket.unshift(seen);
      resolve(isHttp2);
    };
    const ended = () => done(false);
    const look = () => {
      for (let chunk; (chunk = socket.read()) !== null; ) seen = Buffer.concat([seen, chunk]);
      const length = Math.min(seen.length, PREFACE.length);
      if (!seen.subarray(0, length).equals(PREFACE.subarray(0, length)) || socket.readableEnded) done(false);
      else if (length === PREFACE.length) done(true);
    };
    socket.on("readable", look).on("error", ended).on("close", ended);
    socket.setTimeout(FIRST_BYTES_MILLIS, () => socket.destroy());
  });
}

/** Says to every request that it is not served, so that its sender can read it. */
function refusingHttp2() {
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    // What the client sends is of no use, but it has to be taken before some read the answer.
    stream.resume();
    if (isGrpc(headers["content-type"])) {
      const trailers = { "grpc-status": UNIMPLEMENTED, "grpc-message": encodeURIComponent(NO_GRPC) };
      stream.respond({ ":status": 200, "content-type": "application/grpc", ...trailers }, { endStream: true });
      return;
    }
    stream.respond({ ":status": constants.HTTP_STATUS_HTTP_VERSION_NOT_SUPPORTED, "content-type": "text/plain" });
    stream.end("HTTP/2 is not spoken here; use HTTP/1.1\n");
  });
  server.on("sessionError", () => {});
  // One refusal is enough: the client connects anew if it has more to say.
  server.on("session", (session) => session.on("stream", (stream) => stream.on("close", () => session.close())));
  return server;
}
