import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { write } from "token2text";
import { Follower } from "./follower.js";

// A worker knows where its page is.
Object.assign(globalThis, { location: { origin: "http://page.example" } });

const idOf = (number: number) => number.toString(16).padStart(32, "0");

/** Answers as the collector's read API does, for traces that are there from the beginning or are put in. */
class Answering {
  server: Server;
  asked: string[] = [];
  traces: string[] = [];
  broken = new Set<string>();
  #waiting = new Set<() => void>();

  constructor() {
    this.server = createServer(async (request, response) => {
      const url = new URL(request.url!, "http://localhost");
      this.asked.push(request.url!);
      const [, ids] = /^\/v1\/traces\/(.+)$/.exec(url.pathname) ?? [];
      if (ids) {
        const wanted = ids.split(",");
        if (wanted.some((id) => this.broken.has(id))) return void response.writeHead(413).end();
        return void response.end(await write(wanted.map((traceId) => ({ traceId, spanId: "1".repeat(16), name: "generate" })), "otlp-proto"));
      }
      const after = Number(url.searchParams.get("after"));
      if (after >= this.traces.length && Number(url.searchParams.get("wait")) > 0) await new Promise<void>((resolve) => this.#waiting.add(resolve));
      const changed = this.traces.map((traceId, at) => ({ traceId, bodies: 1, bytes: 100, changed: at + 1 })).slice(after, after + Number(url.searchParams.get("limit")));
      response.end(JSON.stringify({ traces: changed, next: changed.at(-1)?.changed ?? Math.min(after, this.traces.length) }));
    });
  }

  async listen(port = 0): Promise<number> {
    this.server.listen(port, "127.0.0.1");
    await once(this.server, "listening");
    return (this.server.address() as AddressInfo).port;
  }

  put(...traces: string[]): void {
    this.traces.push(...traces);
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  async stop(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

function follower(port: number) {
  const seen: string[] = [];
  const said: string[] = [];
  const problems: string[] = [];
  const one = new Follower(`http://127.0.0.1:${port}/v1/traces`, undefined, {
    onTraces: async (traces, isNew) => void seen.push(...traces.map(({ traceId }) => `${Number.parseInt(traceId, 16)}${isNew ? " new" : ""}`)),
    onProblem: (code) => problems.push(code),
    onState: ({ state, retryMillis }) => said.push(retryMillis === undefined ? state : `${state} ${retryMillis <= 1000 ? "soon" : "later"}`),
  });
  const until = async (isThere: () => boolean) => {
    for (const end = Date.now() + 10_000; !isThere(); await new Promise((resolve) => setTimeout(resolve, 5))) assert.ok(Date.now() < end, JSON.stringify({ seen, said, problems }));
  };
  return { one, seen, said, problems, until };
}
const never = new AbortController().signal;

test("all that is there is read in pages, then what comes, and only that", async () => {
  const server = new Answering();
  server.traces = Array.from({ length: 120 }, (_, at) => idOf(at + 1));
  const { one, seen, said, until } = follower(await server.listen());
  await one.readAll(() => {}, never);
  assert.equal(seen.length, 120);
  one.follow(true);
  await until(() => server.asked.some((url) => url.endsWith("wait=25")));
  const before = server.asked.length;
  server.put(idOf(500), idOf(7));
  await until(() => seen.length === 122);
  assert.deepEqual(seen.slice(120), ["500 new", "7 new"]);
  assert.equal(server.asked.slice(before).filter((url) => url.includes(`/${idOf(500)}`)).length, 1);
  assert.ok(said.every((state) => state === "live"));
  one.end();
  await server.stop();
});

test("nobody is asked while it is stopped; then it goes on where it was", async () => {
  const server = new Answering();
  const { one, seen, until } = follower(await server.listen());
  await one.readAll(() => {}, never);
  one.follow(true);
  await until(() => server.asked.length > 2);
  one.follow(false);
  const before = server.asked.length;
  server.put(idOf(1));
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.deepEqual([seen, server.asked.length], [[], before]);
  one.follow(true);
  await until(() => seen.length === 1);
  one.end();
  await server.stop();
});

test("a collector that is lost is asked again, later each time, and at once when somebody says so", async () => {
  const server = new Answering();
  const port = await server.listen();
  const { one, seen, said, until } = follower(port);
  await one.readAll(() => {}, never);
  one.follow(true);
  await until(() => said.length === 2);
  await server.stop();
  await until(() => said.includes("lost later"));
  assert.deepEqual(said.slice(2, 4), ["lost soon", "lost later"]);
  const again = new Answering();
  again.traces = [idOf(3)];
  await again.listen(port);
  one.follow(true);
  await until(() => said.at(-1) === "live");
  assert.deepEqual(seen, ["3 new"]);
  one.end();
  await again.stop();
});

test("a trace that cannot be read is named, and the others are read", async () => {
  const server = new Answering();
  server.traces = [1, 2, 3].map(idOf);
  server.broken.add(idOf(2));
  const { one, seen, problems } = follower(await server.listen());
  await one.readAll(() => {}, never);
  assert.deepEqual([seen, problems], [["1", "3"], ["refused"]]);
  await server.stop();
});

test("what is no collector with a store is told at once", async () => {
  const server = createServer((_, response) => response.writeHead(405).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await assert.rejects(follower(port).one.readAll(() => {}, never), (error: { code: string; message: string }) => error.code === "refused" && /--store/.test(error.message));
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
  await assert.rejects(follower(port).one.readAll(() => {}, never), { code: "unreadable_source", message: /cannot be reached; or it does not let this page read/ });
});
