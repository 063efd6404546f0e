/** What `init` has set up: calls begin here, and what became of them goes into the queue. */
import { Call } from "./call.js";
import { here, inside, newTrace, randomId } from "./context.js";
import { SampleLimit, choose } from "./sampling.js";
import { isPlainObject, snapshot } from "./snapshot.js";

/** @typedef {import("./call.js").Listener} Listener */
/** @typedef {import("./call.js").Record} Record */
/** @typedef {import("./context.js").Context} Context */
/**
 * @typedef {object} Attributes
 * @property {number} [step] Of the training.
 * @property {number | string} [sampleIndex] Of the sample in the data.
 * @property {number} [rolloutN] Of the rollout among those of the sample.
 * @property {boolean} [validate] Whether it is a validation. Default: false.
 * @property {string} [name] Of the span that MLflow and OTLP have around the calls. Default: `"rollout_trace"`, as in verl.
 * @property {boolean} [trace] False: nothing inside is traced. Default: what `maxSamplesPerStepPerWorker` allows.
 */
/**
 * @typedef {object} TracerOptions
 * @property {import("./backends.js").Backend} backend
 * @property {string} experimentName
 * @property {number} [maxSamples]
 * @property {import("./queue.js").Queue} queue
 */

/** @implements {Listener} */
export class Tracer {
  #options;
  #limit;
  /** Calls that have not ended and what they hold, the oldest first. @type {Map<Call, number>} */
  #open = new Map();
  #openBytes = 0;
  /** @param {TracerOptions} options */
  constructor(options) {
    this.#options = options;
    this.#limit = new SampleLimit(options.maxSamples);
  }

  get queue() {
    return this.#options.queue;
  }

  /** How many calls have not ended. */
  get open() {
    return this.#open.size;
  }

  /**
   * Begins a call; nothing where nothing is traced.
   *
   * @param {string} name
   * @param {unknown[]} args
   * @param {readonly string[]} [parameters]
   * @returns {Call | undefined}
   */
  begin(name, args, parameters) {
    const context = here();
    if (!context.isOn) return undefined;
    const { value: inputs, bytes } = snapshot(named(args, parameters));
    return this.#begin({ name, inputs, bytes, isTrajectory: false }, context);
  }

  /**
   * @param {Attributes} given
   * @param {() => any} fn
   */
  trajectory(given, fn) {
    const around = here();
    if (!around.isOn) return fn();
    if (!(given.trace ?? this.#limit.allows(given))) return inside({ ...around, isOn: false }, fn);
    const { backend, experimentName } = this.#options;
    const own = attributesOf(given, experimentName);
    const context = { ...around, attributes: backend.inheritsAttributes ? { ...around.attributes, ...own } : own };
    if (!backend.hasTrajectorySpan) return new Call(context).make(fn);
    return this.#begin({ name: given.name ?? "rollout_trace", bytes: 0, isTrajectory: true }, context).make(fn);
  }

  /** @param {readonly unknown[]} sampleIndices */
  choose(sampleIndices) {
    return choose(sampleIndices, this.#options.maxSamples);
  }

  /** @param {Pick<Record, "name" | "inputs" | "bytes" | "isTrajectory">} begun @param {Context} context */
  #begin(begun, context) {
    const { attributes, trace = newTrace(), spanId: parentId } = context;
    if (begun.isTrajectory) Object.assign(trace.tags, attributes);
    const spanId = randomId(8);
    const call = new Call({ ...context, trace, spanId }, { ...begun, trace, spanId, parentId, attributes }, this);
    this.#open.set(call, 0);
    this.grew(call, call.bytes);
    return call;
  }

  /** @param {Call} call @param {number} bytes */
  grew(call, bytes) {
    this.#open.set(call, (this.#open.get(call) ?? 0) + bytes);
    this.#openBytes += bytes;
    this.#giveUpOldest();
  }

  /** @param {Call} call @param {Record} record */
  ended(call, record) {
    this.#close(call);
    this.queue.push(record);
  }

  /** Of promises that never settle there may be any number. */
  #giveUpOldest() {
    for (const [call] of this.#open) {
      if (this.queue.hasRoomFor(this.#open.size, this.#openBytes)) break;
      call.giveUp();
      this.#close(call);
      this.queue.drop("too many calls had not ended; the oldest was given up");
    }
  }

  /** @param {Call} call */
  #close(call) {
    this.#openBytes -= this.#open.get(call) ?? 0;
    this.#open.delete(call);
  }
}

/**
 * By verl's names and in its order. What is not given is absent.
 *
 * @param {Attributes} given
 * @param {string} experimentName
 */
function attributesOf({ sampleIndex, step, rolloutN, validate = false }, experimentName) {
  const all = { sample_index: sampleIndex, step, rollout_n: rolloutN, validate, experiment_name: experimentName };
  const present = Object.entries(all).filter(([, value]) => value !== undefined && value !== null);
  return /** @type {globalThis.Record<string, unknown>} */ (snapshot(Object.fromEntries(present)).value);
}

/**
 * Arguments by name: those that are given, the members of one that is an object, or `arg0`, `arg1` as in npm's weave.
 *
 * @param {unknown[]} args
 * @param {readonly string[]} [parameters]
 * @returns {object}
 */
function named(args, parameters) {
  if (parameters === undefined && args.length === 1 && isPlainObject(args[0])) return args[0];
  const count = Math.max(args.length, parameters?.length ?? 0);
  // As Python has None for what was not given.
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [parameters?.[i] ?? `arg${i}`, args[i] ?? null]));
}
