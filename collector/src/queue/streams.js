/**
 * The stream that bodies wait in, its consumer, which all workers share, and the stream of dead letters: made if they are not there.
 * Who has made them otherwise may have reasons, as long as nothing is lost by it.
 */
import { JetStreamApiCodes } from "@nats-io/jetstream";
import { millis, nanos } from "@nats-io/transport-node";
import { Unsuitable } from "./problems.js";

/** @typedef {import("@nats-io/jetstream").ConsumerConfig} ConsumerConfig */
/** @typedef {import("@nats-io/jetstream").StreamConfig} StreamConfig */
/** @typedef {import("@nats-io/jetstream").JetStreamManager} Manager */
/** @typedef {import("../types.js").QueueTarget["options"]} Options */
/** What a setting must be, and why. @typedef {{ value: unknown, why: string }} Wanted */

/** The name of the consumer. */
const WORKERS = "workers";
const ACK_WAIT_MILLIS = 30_000;
/** More than all workers together hold; those that wait to be tried again count, too. */
const MOST_PENDING = 4096;

const ASKED = "that was asked for";
const NOT_TWICE = "or each body would go to every consumer, and stay when it is done";
const NOT_LOST = "or bodies would be thrown away to make room";
const NOT_GIVEN_UP = "or bodies would be given up";

/** The names that are made of the stream's. @param {Options} options */
export function namesOf({ stream }) {
  return { stream, subject: `${stream}.bodies`, consumer: WORKERS, deadStream: `${stream}-dead`, deadSubject: `${stream}.dead` };
}

/**
 * Makes the stream of bodies.
 *
 * @param {Manager} manager
 * @param {Options} options
 */
export async function makeStream(manager, options) {
  const { stream, subject } = namesOf(options);
  await make(`the stream ${stream}`, {
    found: () => manager.streams.info(stream),
    add: (config) => manager.streams.add({ ...config, name: stream, subjects: [subject], storage: "file" }),
    wanted: {
      retention: { value: "workqueue", why: NOT_TWICE },
      discard: { value: "new", why: NOT_LOST },
      ...(options.maxBytes !== undefined && { max_bytes: { value: options.maxBytes, why: ASKED } }),
      ...(options.replicas !== undefined && { num_replicas: { value: options.replicas, why: ASKED } }),
    },
    subject,
  });
}

/**
 * Makes what workers need beside it.
 *
 * @param {Manager} manager
 * @param {Options} options
 * @returns {Promise<import("@nats-io/jetstream").ConsumerInfo>}
 */
export async function makeConsumer(manager, options) {
  const { stream, consumer, deadStream, deadSubject } = namesOf(options);
  const { replicas, ackWaitMillis = ACK_WAIT_MILLIS } = options;
  await make(`the stream ${deadStream}`, {
    found: () => manager.streams.info(deadStream),
    add: (config) => manager.streams.add({ ...config, name: deadStream, subjects: [deadSubject], storage: "file", ...(replicas && { num_replicas: replicas }) }),
    wanted: { discard: { value: "new", why: NOT_LOST } },
    subject: deadSubject,
  });
  return make(`the consumer ${consumer} of the stream ${stream}`, {
    found: () => manager.consumers.info(stream, consumer),
    add: (config) => manager.consumers.add(stream, { ack_wait: nanos(ackWaitMillis), max_ack_pending: MOST_PENDING, ...config, durable_name: consumer }),
    wanted: {
      ack_policy: { value: "explicit", why: NOT_GIVEN_UP },
      max_deliver: { value: -1, why: NOT_GIVEN_UP },
      ...(options.ackWaitMillis !== undefined && { ack_wait: { value: nanos(options.ackWaitMillis), why: ASKED } }),
    },
  });
}

/** After so long without a word of its worker a body is given to another one. @param {import("@nats-io/jetstream").ConsumerInfo} consumer */
export function ackWaitOf({ config }) {
  return millis(config.ack_wait ?? nanos(ACK_WAIT_MILLIS));
}

/**
 * What is there, if it is suitable; else what was made.
 *
 * @template {{ config: object }} Info
 * @param {string} what In words.
 * @param {object} how
 * @param {() => Promise<Info>} how.found
 * @param {(config: any) => Promise<Info>} how.add
 * @param {Record<string, Wanted>} how.wanted By the names of settings.
 * @param {string} [how.subject] That a stream must have.
 */
async function make(what, { found, add, wanted, subject }) {
  const info = await found().catch((error) => {
    if (![JetStreamApiCodes.StreamNotFound, JetStreamApiCodes.ConsumerNotFound].includes(error.code)) throw error;
  });
  if (!info) return add(Object.fromEntries(Object.entries(wanted).map(([name, { value }]) => [name, value])));
  const config = /** @type {Record<string, any>} */ (info.config);
  for (const [name, { value, why }] of Object.entries(wanted)) {
    if (config[name] !== value) throw new Unsuitable(`${what} is there with ${name} ${config[name]}, not ${value} (${why}); change it, or write another stream=NAME`);
  }
  if (subject !== undefined && !config.subjects?.includes(subject)) {
    throw new Unsuitable(`${what} is there without the subject ${subject}; change it, or write another stream=NAME`);
  }
  return info;
}
