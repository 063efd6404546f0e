/**
 * A server that passes everything on and keeps what passed. One before the relay and one behind it show what the relay did with
 * each request and each answer, byte for byte. It can also stand for a backend that fails.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";

/** Of one connection (RFC 9110, 7.6.1), and what says how the body is cut there. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-connection"]);
/** What must differ behind a relay. */
const OF_THE_HOST = new Set(["host", "origin"]);

/**
 * @typedef {object} Exchange
 * @property {string} method
 * @property {string} path
 * @property {string[]} headers As they came: name, value, name, value.
 * @property {Buffer} body
 * @property {{ status: number, message: string, headers: string[], body: Buffer }} answer
 */

/** @typedef {{ status: number, body?: string }} Planned */
/**
 * What is answered in place of the server, when it is known; `cut`: the connection ends without an answer.
 *
 * @typedef {(incoming: { method: string, path: string }) => Promise<Planned | "cut" | undefined> | Planned | "cut" | undefined} Fault
 */

/** @param {string} upstream @param {Fault} [fault] */
export async function startRecorder(upstream, fault = () => undefined) {
  const target = new URL(upstream);
  /** @type {Exchange[]} */
  const exchanges = [];
  const server = createServer(async (incoming, outgoing) => {
    const method = incoming.method ?? "";
    const path = incoming.url ?? "";
    // A client that ends sends some of its last request only.
    const body = await buffer(incoming).catch(() => undefined);
    if (!body) return;
    const planned = await fault({ method, path });
    if (planned === "cut") return void incoming.socket.destroy();
    const given = { method, path, headers: incoming.rawHeaders, body };
    if (planned) {
      const answered = Buffer.from(planned.body ?? "");
      const answer = { ...planned, message: "As planned", headers: ["content-length", String(answered.length)], body: answered };
      exchanges.push({ ...given, answer });
      outgoing.sendDate = false;
      return void outgoing.writeHead(answer.status, answer.message, answer.headers).end(answer.body);
    }
    const sent = request({ host: target.hostname, port: target.port, method, path, headers: /** @type {any} */ (incoming.rawHeaders) });
    sent.end(body);
    /** @type {import("node:http").IncomingMessage[]} */
    const [got] = await once(sent, "response").catch(() => []);
    if (got === undefined) return void incoming.socket.destroy();
    const answer = { status: got.statusCode ?? 0, message: got.statusMessage ?? "", headers: got.rawHeaders, body: await buffer(got) };
    exchanges.push({ ...given, answer });
    outgoing.sendDate = false;
    outgoing.writeHead(answer.status, answer.message, pairs(answer.headers).filter(([name]) => name.toLowerCase() !== "transfer-encoding").flat());
    outgoing.end(answer.body);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    exchanges,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** @param {string[]} raw */
function pairs(raw) {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i], raw[2 * i + 1]]);
}

/** What a relay has to carry as it is. @param {string[]} raw @param {string[]} [but] */
function carried(raw, but = []) {
  return pairs(raw).filter(([name]) => ![...HOP_BY_HOP, ...OF_THE_HOST, ...but].some((other) => other === name.toLowerCase()));
}

/**
 * Checks that everything but the bodies of traces went through unchanged, in both directions.
 *
 * @param {Exchange[]} before What the client had with the relay.
 * @param {Exchange[]} behind What the relay had with the backend.
 * @param {(exchange: Exchange) => boolean} mayChange Whether the body of the request may be another.
 * @returns {{ before: Exchange, behind: Exchange }[]} Those whose body is another.
 */
export function assertPassed(before, behind, mayChange) {
  const rest = [...behind];
  const take = (/** @type {(other: Exchange) => boolean} */ isIt) => rest.splice(rest.findIndex(isIt), rest.some(isIt) ? 1 : 0)[0];
  /** @type {{ before: Exchange, behind: Exchange }[]} */
  const changed = [];
  const isSameLine = (/** @type {Exchange} */ a, /** @type {Exchange} */ b) => a.method === b.method && a.path === b.path;
  // First those that are the same, for clients send several at once.
  const others = before.filter((one) => {
    const same = take((other) => isSameLine(one, other) && one.body.equals(other.body) && one.answer.body.equals(other.answer.body));
    if (!same) return true;
    assert.deepEqual(carried(same.headers), carried(one.headers), `headers of ${one.method} ${one.path}`);
    assertSameAnswer(one, same);
    return false;
  });
  for (const one of others) {
    assert.ok(mayChange(one), `the body of ${one.method} ${one.path} was changed`);
    const other = take((candidate) => isSameLine(one, candidate) && one.answer.body.equals(candidate.answer.body));
    assert.ok(other, `${one.method} ${one.path} did not reach the backend`);
    assert.deepEqual(carried(other.headers, ["content-length"]), carried(one.headers, ["content-length"]), `headers of ${one.method} ${one.path}`);
    assertSameAnswer(one, other);
    changed.push({ before: one, behind: other });
  }
  assert.deepEqual(rest.map(({ method, path }) => `${method} ${path}`), [], "the relay sent something by itself");
  return changed;
}

/** @param {Exchange} one @param {Exchange} other */
function assertSameAnswer(one, other) {
  const place = `answer to ${one.method} ${one.path}`;
  assert.deepEqual([one.answer.status, one.answer.message], [other.answer.status, other.answer.message], place);
  assert.deepEqual(carried(one.answer.headers, ["content-length"]), carried(other.answer.headers, ["content-length"]), `headers of the ${place}`);
  assert.ok(one.answer.body.equals(other.answer.body), place);
}
