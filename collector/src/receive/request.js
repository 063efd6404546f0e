/** A request as it is received: its encoding, and its body opened within limits. */
import { NotOpened, open } from "../relay/encodings.js";
import { Allowance, hold } from "../relay/held.js";
import { JSON_TYPE, PROTOBUF } from "./answers.js";
import { NO_GRPC, Refusal } from "./refusal.js";

/** @typedef {{ body: Buffer, contentType: string, release: () => void }} Received `release` is to be called when the body is held no more. */

/** Seconds after which there may be room again. */
const RETRY_AFTER = { "retry-after": "1" };

/**
 * `application/x-protobuf` or `application/json`, whatever parameters stand behind it.
 *
 * @param {string | undefined} contentType The header.
 * @returns {string | undefined}
 */
export function encodingOf(contentType) {
  const type = contentType?.split(";", 1)[0].trim().toLowerCase();
  return type === PROTOBUF || type === JSON_TYPE ? type : undefined;
}

/** Whether it is a request of gRPC. @param {string | undefined} contentType The header. */
export function isGrpc(contentType) {
  return contentType?.toLowerCase().startsWith("application/grpc") ?? false;
}

/**
 * @param {import("../types.js").Context} context
 * @param {import("node:http").IncomingMessage} message
 * @returns {Promise<Received>}
 * @throws {Refusal}
 */
export async function receive(context, message) {
  const { "content-type": type, "content-encoding": encoding, "content-length": length = 0 } = message.headers;
  const { bodyBytes } = context.configuration.limits;
  const contentType = encodingOf(type);
  if (!contentType) {
    throw new Refusal(415, isGrpc(type) ? NO_GRPC : `the content type must be ${PROTOBUF} or ${JSON_TYPE}${type ? `, not ${type}` : ""}`);
  }
  const [held, opened] = [new Allowance(context), new Allowance(context)];
  const release = () => [held, opened].forEach((allowance) => allowance.release());
  try {
    const { chunks, reason } = await hold(message, held, Number(length));
    if (reason) throw refusal(reason, bodyBytes);
    const { body } = await open(encoding, chunks, opened);
    return { body, contentType, release };
  } catch (error) {
    release();
    throw error instanceof NotOpened ? refusal(error.reason, bodyBytes, error.message) : error;
  }
}

/** @param {NotOpened["reason"]} reason @param {number} bodyBytes @param {string} [message] */
function refusal(reason, bodyBytes, message = "") {
  switch (reason) {
    case "too_large":
      return new Refusal(413, `the body has more than ${bodyBytes} bytes; send fewer spans at once`);
    case "overloaded":
      return new Refusal(503, "too many bodies are under way; send it again a little later", RETRY_AFTER);
    case "unsupported_encoding":
      return new Refusal(415, message, { "accept-encoding": "gzip, deflate" });
    default:
      return new Refusal(400, message);
  }
}
