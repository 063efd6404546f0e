/** One request and its answer. */
import { Readable } from "node:stream";
import { answerOfUnknownLength, answerWithBody, backwards, hasBody, isChunked, pairs, replaced, towards, trailersWithBody, valueOf, withBody, without } from "./headers.js";
import { undecoded } from "../enrichment/outcome.js";
import { openable } from "./encodings.js";
import { Allowance, hold } from "./held.js";
import { isPlainLines, pieces } from "./lines.js";
import { rewrite } from "./rewrite.js";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("./headers.js").Headers} Headers */
/** A body: what of it was held, and whether that is all. @typedef {{ chunks: Uint8Array[], isWhole: boolean, trailers?: Headers }} Held */

/** Written to send a head without its body. `flushHeaders` would write Latin-1 as UTF-8. */
const NOTHING = Buffer.alloc(0);

/** The methods that have no body unless their headers say so; others get an empty one. */
const WITHOUT_BODY = ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"];

export class Exchange {
  #context;
  #labels;
  #upstream;
  #conduit;
  #request;
  #response;
  #route;
  #allowance;
  /** Aborted when nobody waits for the answer any more. */
  #gone = new AbortController();
  /** What went wrong with the backend's connection, first. @type {Error & { code?: string } | undefined} */
  #fault;
  /** For the log. @type {{ outcome?: string, warnings: Set<string> }} */
  #said = { warnings: new Set() };

  /**
   * @param {object} parts
   * @param {import("../types.js").Context} parts.context
   * @param {string} parts.listener Its name.
   * @param {URL} parts.upstream
   * @param {import("./conduit.js").Conduit} parts.conduit
   * @param {IncomingMessage} parts.request
   * @param {import("node:http").ServerResponse} parts.response
   * @param {import("./routes.js").Route} [parts.route] If it writes or reads traces that are to be enriched.
   */
  constructor({ context, listener, upstream, conduit, request, response, route }) {
    this.#context = context;
    this.#labels = { listener };
    this.#upstream = upstream;
    this.#conduit = conduit;
    this.#request = request;
    this.#response = response;
    this.#route = route;
    this.#allowance = new Allowance(context);
  }

  /** What became of the body that was offered, and the codes of what there was to say of it. */
  get said() {
    return this.#said;
  }

  /**
   * Passes the request on and the answer back.
   *
   * @returns {Promise<number>} The status of the answer; 0 if there was none, or not all of it.
   */
  async run() {
    const { socket } = this.#request;
    const leave = () => this.#gone.abort();
    if (socket.destroyed) leave();
    socket.once("close", leave);
    // What is wrong with them is learned from what is done with them.
    this.#request.on("error", () => {});
    this.#response.on("error", () => {});
    try {
      return await this.#exchange();
    } catch (error) {
      if (this.#gone.signal.aborted) return 0;
      const fault = this.#fault ?? /** @type {Error & { code?: string }} */ (error);
      this.#context.log.warn({ ...this.#labels, code: fault.code, cause: fault.message }, "the backend gave no whole answer; the connection ends as it did");
      this.#conduit.cut(fault, this.#response.headersSent);
      return 0;
    } finally {
      socket.off("close", leave);
      this.#allowance.release();
    }
  }

  async #exchange() {
    let headers = towards(this.#request.rawHeaders, this.#upstream);
    /** @type {Held} */
    let held = { chunks: [], isWhole: false };
    const isHeld = this.#route?.kind === "write" && hasBody(headers);
    if (isHeld) {
      if (valueOf(headers, "expect") !== undefined) {
        // The client waits for a word before it sends what is to be held.
        this.#response.writeContinue();
        headers = without(headers, ["expect"]);
      }
      ({ headers, ...held } = await this.#held(this.#request, headers, withBody));
    } else if (this.#route?.kind === "read") headers = replaced(headers, "accept-encoding", openable(valueOf(headers, "accept-encoding") ?? ""));
    const upstream = this.#send(headers, held, isHeld);
    const { signal } = this.#gone;
    const abort = () => upstream.destroy();
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    /** @type {IncomingMessage} */
    const incoming = await new Promise((resolve, reject) => {
      upstream.once("response", resolve);
      upstream.on("error", (error) => {
        this.#fault ??= error;
        reject(error);
      });
    });
    // After an answer without keep-alive the backend's connection ends, and so does the client's.
    if (!upstream.shouldKeepAlive || this.#conduit.isEnding) this.#response.shouldKeepAlive = false;
    return this.#answer(incoming);
  }

  /**
   * Reads a body of traces, and enriches it if it is whole.
   *
   * @param {IncomingMessage} stream
   * @param {Headers} headers
   * @param {typeof withBody} withOther Makes the headers of another body.
   * @returns {Promise<Held & { headers: Headers }>}
   */
  async #held(stream, headers, withOther) {
    const started = performance.now();
    const { chunks, reason } = await hold(stream, this.#allowance, Number(valueOf(headers, "content-length") ?? 0));
    if (reason) {
      this.#undecoded(undecoded(reason, "the body has no room"), started);
      return { headers, chunks, isWhole: false };
    }
    const trailers = stream.rawTrailers;
    const body = chunks.length > 0 ? await this.#rewrite(chunks, headers) : undefined;
    if (!body) return { headers, chunks, isWhole: true, trailers };
    return { headers: withOther(headers, body.length), chunks: [body], isWhole: true, trailers: trailersWithBody(trailers) };
  }

  /**
   * The other body, if there is one.
   *
   * @param {Buffer[]} chunks
   * @param {Headers} headers
   */
  async #rewrite(chunks, headers) {
    const started = performance.now();
    const { signal } = this.#gone;
    // Who reads asks for what is stored, all of it.
    const sampling = this.#route?.kind === "write" ? "decode" : undefined;
    const { result, body } = await rewrite(this.#context, { chunks, headers, url: this.#request.url ?? "", signal, sampling });
    if (signal.aborted) throw new Error("the client has gone");
    if (result.outcome === "undecoded") return void this.#undecoded(result, started);
    this.#said.outcome = result.outcome;
    for (const { code } of result.warnings) this.#said.warnings.add(code);
    this.#context.metrics.enriched(this.#labels, result, seconds(started));
    return body;
  }

  /**
   * @param {ReturnType<typeof undecoded>} result
   * @param {number} started
   */
  #undecoded(result, started) {
    const { reason, message } = result;
    this.#said.outcome = reason;
    this.#context.metrics.enriched(this.#labels, result, seconds(started));
    const level = reason === "not_sampled" ? "debug" : "warn";
    this.#context.log[level]({ ...this.#labels, reason, cause: message }, "a body goes on as it came");
  }

  /**
   * Begins the request to the backend, and goes on with it by itself.
   *
   * @param {Headers} headers
   * @param {Held} held
   * @param {boolean} wasHeld
   */
  #send(headers, { chunks, isWhole, trailers }, wasHeld) {
    const request = this.#request;
    const { method = "GET", url = "/" } = request;
    const hasNoLength = valueOf(headers, "content-length") === undefined && !isChunked(headers);
    // Node would announce chunks.
    if (hasNoLength && !WITHOUT_BODY.includes(method)) headers = [...headers, "Content-Length", "0"];
    const path = url.startsWith("/") ? this.#upstream.pathname.replace(/\/$/, "") + url : url;
    const upstream = this.#conduit.request({ method, path, headers }, wasHeld);
    upstream.on("information", (/** @type {any} */ info) => this.#inform(info));
    const end = () => {
      if (isChunked(headers)) upstream.addTrailers(pairs(trailers ?? request.rawTrailers));
      upstream.end();
    };
    for (const chunk of chunks) upstream.write(chunk);
    if (isWhole || hasNoLength) end();
    else {
      passOn(request, upstream, end);
      // The backend wants no more of it, but the client must be able to end it to see the answer.
      upstream.once("close", () => request.resume());
    }
    return upstream;
  }

  /** Passes on what a backend says before its answer. @param {{ statusCode: number, statusMessage: string, rawHeaders: Headers }} info */
  #inform({ statusCode, statusMessage, rawHeaders }) {
    if (this.#request.httpVersionMinor === 0 || this.#response.headersSent) return;
    const lines = pairs(backwards(rawHeaders)).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#request.socket.write(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join("")}\r\n`, "latin1");
  }

  /** @param {IncomingMessage} incoming */
  async #answer(incoming) {
    const response = this.#response;
    let headers = backwards(incoming.rawHeaders);
    /** @type {Held} */
    let held = { chunks: [], isWhole: false };
    /** @type {Readable} */
    let source = incoming;
    if (this.#route?.kind === "read" && incoming.statusCode === 200) {
      if (this.#route.hasLines && isPlainLines(headers)) {
        source = Readable.from(this.#lines(incoming, headers), { objectMode: false });
        headers = answerOfUnknownLength(headers);
      } else ({ headers, ...held } = await this.#held(incoming, headers, answerWithBody));
    }
    // HTTP/1.0 knows no chunks: what has no length ends with the connection.
    if (this.#request.httpVersionMinor === 0) headers = without(headers, ["transfer-encoding", "trailer"]);
    response.sendDate = false;
    response.writeHead(incoming.statusCode ?? 0, incoming.statusMessage, headers);
    const isOver = new Promise((resolve, reject) => {
      response.once("finish", resolve);
      source.once("error", reject);
      this.#gone.signal.addEventListener("abort", () => reject(new Error("the client has gone")));
    });
    const end = () => {
      const trailers = held.trailers ?? (source === incoming ? incoming.rawTrailers : trailersWithBody(incoming.rawTrailers));
      if (trailers.length > 0) response.addTrailers(pairs(trailers));
      response.end();
    };
    for (const chunk of held.chunks) response.write(chunk);
    if (held.isWhole) end();
    else {
      passOn(source, response, end);
    }
    await isOver;
    return incoming.statusCode ?? 0;
  }

  /**
   * The lines of an answer, enriched as they come.
   *
   * @param {IncomingMessage} incoming
   * @param {Headers} headers
   */
  async *#lines(incoming, headers) {
    let wasWhole = true;
    for await (const { bytes, isWhole } of pieces(incoming, this.#context.configuration.limits.bodyBytes)) {
      const reason = isWhole ? this.#allowance.take(bytes.length) : "too_large";
      // Of a long line, once.
      if (reason && (isWhole || wasWhole)) this.#undecoded(undecoded(reason, "the lines have no room"), performance.now());
      yield (reason ? undefined : await this.#rewrite([bytes], headers)) ?? bytes;
      this.#allowance.release();
      wasWhole = isWhole;
    }
  }
}

/**
 * Passes a body on as it comes. The head goes with the first of it if that is there already, else without it.
 *
 * @param {import("node:stream").Readable} source
 * @param {import("node:http").OutgoingMessage} target
 * @param {() => void} end
 */
function passOn(source, target, end) {
  const alone = setImmediate(() => target.destroyed || target.write(NOTHING));
  const isWithBody = () => clearImmediate(alone);
  source.once("data", isWithBody).once("end", isWithBody).once("end", end);
  source.pipe(target, { end: false });
}

/** @param {number} started */
function seconds(started) {
  return (performance.now() - started) / 1000;
}
