/** HTTP as bytes on sockets: a backend and a client that show what was really sent. */
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** @typedef {import("node:net").Socket} Socket */
/**
 * @typedef {object} Message
 * @property {string} start The first line.
 * @property {string[]} headers Lines.
 * @property {string} body Without chunks; Latin-1.
 * @property {string[]} trailers Lines.
 * @property {boolean} isWhole
 * @property {number} length Of all its bytes.
 */

/**
 * A message as far as it is there; nothing while its head is not.
 *
 * @param {string} text Latin-1.
 * @param {{ hasBody?: boolean }} [options] `hasBody: false` for answers to HEAD and of 1xx, 204, 304.
 * @returns {Message | undefined}
 */
export function parsed(text, { hasBody = true } = {}) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [start, ...headers] = text.slice(0, end).split("\r\n");
  const rest = text.slice(end + 4);
  const value = (/** @type {string} */ name) => headers.find((line) => line.toLowerCase().startsWith(`${name}:`))?.split(":")[1].trim();
  const head = { start, headers, trailers: [], body: "", isWhole: true, length: end + 4 };
  if (!hasBody) return head;
  if (value("transfer-encoding") === undefined) {
    const length = Number(value("content-length") ?? (start.startsWith("HTTP/") ? Infinity : 0));
    const body = rest.slice(0, length);
    return { ...head, body, isWhole: rest.length >= length, length: head.length + body.length };
  }
  let [body, at] = ["", 0];
  for (;;) {
    const line = rest.indexOf("\r\n", at);
    const size = line < 0 ? NaN : parseInt(rest.slice(at, line), 16);
    if (size === 0) {
      const close = rest.indexOf("\r\n\r\n", line);
      const trailers = close < 0 ? [] : rest.slice(line, close).split("\r\n").filter((text) => text !== "");
      return { ...head, body, trailers, isWhole: close >= 0, length: head.length + close + 4 };
    }
    if (!(rest.length >= line + 2 + size + 2)) return { ...head, body, isWhole: false };
    body += rest.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

/**
 * A backend that answers by a function.
 *
 * @param {(socket: Socket, message: Message, text: string) => void} answer Called once for every whole request.
 * @param {{ onHead?: (socket: Socket, message: Message) => void }} [more] `onHead`: as soon as the head of a request is there.
 */
export async function rawBackend(answer, { onHead } = {}) {
  /** @type {Message[]} */
  const seen = [];
  /** @type {Socket[]} */
  const sockets = [];
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.push(socket);
    let text = "";
    let wasHead = false;
    socket.on("error", () => {});
    socket.on("end", () => socket.end());
    socket.on("data", (data) => {
      text += data.toString("latin1");
      for (let message = parsed(text); message; message = parsed(text)) {
        if (!wasHead) onHead?.(socket, message);
        wasHead = true;
        if (!message.isWhole) return;
        const whole = text.slice(0, message.length);
        text = text.slice(message.length);
        wasHead = false;
        seen.push(message);
        answer(socket, message, whole);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, port, seen, sockets, close };
}

/**
 * Sends bytes, and reads until the other side ends the connection.
 *
 * @param {number} port
 * @param {string | Uint8Array} given Latin-1.
 */
export function talk(port, given) {
  return ask(port, given, () => false, "");
}

/**
 * Sends bytes, and more of them when something was answered; reads until the other side ends the connection.
 *
 * @param {number} port
 * @param {string | Uint8Array} given Latin-1.
 * @param {(text: string) => boolean} isTime
 * @param {string} more
 * @returns {Promise<{ text: string, ending: string }>} `ending`: `end` or `reset`.
 */
export async function ask(port, given, isTime, more) {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  let text = "";
  let ending = "end";
  let isAsked = false;
  socket.on("error", () => (ending = "reset"));
  socket.on("data", (data) => {
    text += data.toString("latin1");
    if (isAsked || !isTime(text)) return;
    isAsked = true;
    socket.write(more, "latin1");
  });
  socket.write(typeof given === "string" ? Buffer.from(given, "latin1") : given);
  await new Promise((resolve) => socket.once("close", resolve));
  return { text, ending };
}
