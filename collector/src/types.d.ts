/** What the parts of the collector say to each other. */

/** Who stores the traces. `otlp`: anyone who takes OTLP. */
export type Backend = "mlflow" | "trackio" | "weave" | "otlp";

/** Where a server listens. The host is a loopback address unless another was asked for. */
export interface Address {
  host: string;
  /** 0: any that is free. */
  port: number;
}

/** One listener whose requests go on to one backend. */
export interface RelayTarget {
  backend: Backend;
  listen: Address;
  /** `http:` or `https:`; with a path if the backend stands under one, without a slash at its end. */
  upstream: URL;
}

/** Where received spans are sent. */
export interface ExportTarget {
  backend: Backend;
  url: string;
  /** Further options of the exporter, as written: `experiment`, `project`, `token`, `headers`, ... */
  options: Record<string, unknown>;
}

/** A stream of NATS JetStream in which received bodies wait for those who export them. */
export interface QueueTarget {
  /** `nats:` or `tls:`, a host and a port. */
  url: string;
  options: {
    /** Its name; other names are made of it. */
    stream: string;
    /** After so long without a word of its worker a body is given to another one. */
    ackWaitMillis?: number;
    /** Most bytes that wait; without it, what the server allows. */
    maxBytes?: number;
    /** How many servers of a cluster hold each body. */
    replicas?: number;
    user?: string;
    password?: string;
    token?: string;
    /** Paths of files: credentials as `nsc` writes them; for TLS, authorities other than the usual, and what the client shows. */
    creds?: string;
    ca?: string;
    cert?: string;
    key?: string;
  };
}

/** Everything that was asked for, checked, with defaults. */
export interface Configuration {
  /** The first pattern that matches the model's name counts; `*` also takes spans without a model. Paths are absolute. */
  tokenizers: { pattern: string; file: string }[];
  tokenizerOptions: { config?: string; compat?: "tokenizers" | "transformers4" | "transformers5" };
  /** As for an Enricher of token2text. */
  enrichment: {
    layouts?: (string | import("token2text").Layout)[];
    existing: "keep" | "replace";
    skipSpecialTokens: boolean;
    ids: "keep" | "drop";
    maxTextChars?: number;
    messages: boolean;
  };
  relays: RelayTarget[];
  /** Whether traces get their texts when they are read through a relay. */
  enrichReads: boolean;
  /** Whether relays serve the viewer under /token2text/. */
  viewer: boolean;
  receive?: Address;
  exports: ExportTarget[];
  queue?: QueueTarget;
  /** Where what is received is kept, and acknowledged for; without a file it is not. */
  store: {
    file?: string;
    /** Most bytes that are in use in the file. */
    bytes: number;
    /** Older bodies are pruned once every export has settled them. */
    ageMillis?: number;
  };
  /** The share of samples that are decoded by relays and exported after receiving: above 0, at most 1. */
  sample: number;
  /** Threads. */
  workers: number;
  /** Folder of packed tokenizers; without one, none are kept. */
  cacheFolder?: string;
  limits: {
    /** Most milliseconds for enriching one body; over it the body goes on as it came. */
    enrichMillis: number;
    /** Most bytes of a body, after decompression. */
    bodyBytes: number;
    /** Most bytes of all bodies that are held at once. */
    heldBytes: number;
    /** A worker whose WebAssembly has grown beyond that is replaced after its body. */
    workerBytes: number;
    /** Most milliseconds that what is under way may take after the signal to stop. */
    drainMillis: number;
  };
  /** Where /health and /metrics are. */
  admin?: Address;
  access: {
    /** The bearer token of those who send to `receive` and read `admin`. */
    token?: string;
    /** Further names by which listeners may be addressed (`Host`); loopback names and the address itself always are. */
    hosts: string[];
    /** Origins of pages that may call (`CORS`). */
    origins: string[];
  };
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "silent";
}

/** One body to be enriched. */
export interface EnrichmentRequest {
  body: Uint8Array;
  contentType?: string;
  /** Path of the request, from which the format can be told. */
  url: string;
  /** A stop from outside: nobody waits any more. */
  signal?: AbortSignal;
  /**
   * What becomes of spans, calls and entries whose sample is not in (`configuration.sample`). `decode`: they come back as they are,
   * in their place. `select`: they are left out of the body. Without it all are enriched. A body of which nothing is in is `undecoded` with
   * the reason `not_sampled`; one that cannot be enriched is not sampled either, and goes on as it came.
   */
  sampling?: "decode" | "select";
}

/** Why a body goes on as it came: a stable code, also the label of the metric. */
export type Undecoded =
  | "not_sampled"
  | "too_large"
  | "overloaded"
  | "timeout"
  | "worker_lost"
  /** The caller waits no more. */
  | "aborted"
  | "unsupported_encoding"
  | "invalid_encoding"
  | "error";

/** What became of a body. `totals` are those of the report of token2text; `reasons` counts skipped fields by reason. `leftOut`: spans, calls or
 * entries that sampling left undecoded, or out. */
export type Enrichment =
  | { outcome: "enriched" | "unchanged"; body: Uint8Array; format: string; totals: import("token2text").Report["totals"]; warnings: { code: string; message: string }[]; leftOut?: number }
  | { outcome: "undecoded"; reason: Undecoded; /** For the log; holds nothing of the body. */ message: string; leftOut?: number };

/** The pool of workers. */
export interface Enrichments {
  /** Never fails and never changes what it is given. */
  enrich(request: EnrichmentRequest): Promise<Enrichment>;
  /** Whether workers are ready, and what they use. */
  health(): { ready: boolean; workers: number; tokenizers: { pattern: string; file: string; loadedAt: string; error?: string }[] };
  close(): Promise<void>;
}

/** Received bodies that wait on other machines, in NATS JetStream. */
export interface Queue {
  /**
   * Resolves when the server has it; one without spans is not put in.
   *
   * @throws {Refusal} 400: it is no request of OTLP; 413: it is too large for the server; 503 with Retry-After: the queue is away or full.
   */
  add(body: Uint8Array, contentType: string): Promise<void>;
  /** Whether it can be used, and what it holds, as far as that is known: bodies that are not settled, bytes in the stream, dead letters. */
  health(): Promise<QueueHealth>;
  /** Takes no more bodies out, waits for those under way, and gives back what takes too long. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

export interface QueueHealth {
  url: string;
  stream: string;
  ready: boolean;
  problem?: string;
  messages?: number;
  bytes?: number;
  deadLetters?: number;
}

/** Counters for /metrics. Every method is cheap and never fails. */
export interface Metrics {
  /** A request that has arrived. `kind`: `write` and `read` of traces; `other` is passed through. */
  received(labels: { listener: string; kind: "write" | "read" | "other" }): void;
  /** A body that was offered to the pool, and what became of it. */
  enriched(labels: { listener: string }, result: Enrichment, seconds: number): void;
  /** An answer that was given. `status` 0: the connection was closed as the backend did. `seconds`: of the whole request. */
  answered(labels: { listener: string; status: number }, seconds: number): void;
  /** An export that has ended. */
  exported(labels: { backend: Backend; status: "success" | "retryable" | "failure" }, seconds: number): void;
  /** A request from the store that an export did not take, and that is sent again. */
  retried(labels: { export: string }): void;
  /** A body that was to be put into the queue. */
  queued(outcome: "stored" | "duplicate" | "refused"): void;
  /** A body that was taken out of the queue. `again`: it was given back; `back`: it was given back at the end. */
  settled(outcome: "exported" | "again" | "dead" | "back"): void;
  /** Bytes of bodies that are now held, or (less than 0) no more. */
  held(bytes: number): void;
  /** Bodies that one transaction of the store has stored, and how long it took. */
  stored(bodies: number, seconds: number): void;
  /** A body that the store had no room for. */
  notStored(): void;
  /** Bodies that were pruned; `reason`: `size` or `age`. */
  pruned(reason: string, bodies: number): void;
  /** The text of /metrics, with what the pool, the store and the queue say of themselves. */
  text(health?: ReturnType<Enrichments["health"]>, facts?: StoreFacts, queue?: QueueHealth): Promise<string>;
  contentType: string;
}

/** A body as it came, decompressed. */
export interface StoredBody {
  /** The position: greater than that of every body that was stored before. */
  id: number;
  contentType: string;
  body: Uint8Array;
  /** Milliseconds since 1970. */
  at: number;
  spans: number;
}

/** A body that an export cannot take, and why. */
export interface DeadLetter {
  /** The name of the export (`exportName`). */
  export: string;
  /** The id of the body. */
  body: number;
  attempts: number;
  /** Of HTTP. */
  status?: number;
  reason: string;
}

/** How a store stands. */
export interface StoreFacts {
  /** In use in the file. */
  bytes: number;
  bodies: number;
  /** The newest id that was given. */
  last: number;
  /** How many dead letters each export has. */
  dead: Record<string, number>;
  positions: Record<string, number>;
  /** What each of the configured exports has not settled yet; `seconds`: the age of the oldest of it. */
  behind: Record<string, { bodies: number; bytes: number; seconds: number }>;
  /** Why it takes nothing now. */
  refusing?: string;
}

/** What was received, kept in a file. */
export interface Store {
  /**
   * Resolves when the body is on the disk: with its id, or 0 for one without spans, which is not stored.
   *
   * @param isGiven Whether the caller needs the body no more, so that it need not be copied.
   * @throws {Refusal} 400: it is no request of OTLP; 503 with Retry-After: there is no room.
   */
  add(body: Uint8Array, contentType: string, isGiven?: boolean): Promise<number>;
  /** Bodies after a position, in order, as many as fit into so many bytes, at least one. */
  after(position: number, bytes: number): Promise<StoredBody[]>;
  /** Calls after each transaction that has added something. Gives the function that ends it. */
  onAdded(listener: () => void): () => void;
  /** Where an export stands: 0 for a new one, which catches up on all there is. */
  position(exportName: string): Promise<number>;
  /** All bodies up to the position are settled for that export; these could not be delivered, and why. Both or neither is written. */
  settle(exportName: string, position: number, dead: DeadLetter[]): Promise<void>;
  /** Dead letters that are to be tried again, with their bodies. */
  due(exportName: string, limit: number): Promise<(DeadLetter & { id: number; stored: StoredBody })[]>;
  /** What became of one that was tried again: it is gone, or dead once more. */
  resolve(id: number, dead?: DeadLetter): Promise<void>;
  facts(): Promise<StoreFacts>;
  /**
   * Traces that changed after a position, by their newest body; `next` is the position to go on from. A body's traces come together, be
   * they more than `limit`. A position that this store has not reached is of another one: all traces have changed then.
   */
  changed(after: number, limit: number): Promise<{ traces: ChangedTrace[]; next: number }>;
  /**
   * The spans of these traces as requests of about 1 MiB in protocol buffers, in the order in which they came. A span that came twice is
   * there once, as it came last.
   *
   * @throws {Refusal} 413: they have more than so many bytes.
   */
  spansOf(traceIds: string[], bytes: number): Promise<StoredSpans>;
  /** Ends when all that was asked for is answered. */
  close(): Promise<void>;
}

/** Spans that were read. `leftOut`: bodies in JSON that protocol buffers cannot hold. */
export interface StoredSpans {
  requests: Uint8Array[];
  spans: number;
  leftOut: { body: number; reason: string }[];
}

/** A trace of the store. `changed`: the id of its newest body; `bodies` and `bytes`: of those that hold spans of it. */
export interface ChangedTrace {
  /** Hexadecimal. */
  traceId: string;
  bodies: number;
  bytes: number;
  changed: number;
}

/** What a part that listens is given. */
export interface Context {
  configuration: Configuration;
  enrichments: Enrichments;
  metrics: Metrics;
  log: import("pino").Logger;
  /** If one was asked for. */
  store?: Store;
  /** Absent without --queue. */
  queue?: Queue;
  /** If there are a store and exports. */
  forwarding?: Forwarding;
}

/** What sends what is stored to the exports. */
export interface Forwarding {
  /** How each export is: since when it fails and why, and the last warning of what it took. */
  health(): { export: string; failingSince?: string; reason?: string; warning?: string }[];
  /** Lets what is being sent end; the rest stays in the store. */
  close(): Promise<void>;
}

/** A part that listens. */
export interface Listener {
  /** `relay mlflow`, `receive`, `admin`. */
  name: string;
  /** Where it listens, with the port that it got. */
  address: Address;
  /** Stops taking connections, waits for requests that are under way, then closes. */
  close(): Promise<void>;
}

/**
 * Starts the pool of workers and every listener that was asked for.
 *
 * @throws What keeps it from starting: a tokenizer that cannot be loaded, an address that is taken.
 */
export function start(
  configuration: Configuration,
  log: import("pino").Logger,
): Promise<{ listeners: Listener[]; /** Lets what is under way end. */ close(): Promise<void> }>;
