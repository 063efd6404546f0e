/** Failures as they cross to the page: plain data, in words for a person. */
import { messageOf } from "token2text/errors";

export interface Failure {
  /** Stable: a code of the package, or one of the viewer's own. */
  code: string;
  message: string;
}

/** What is thrown to the page: an object of a class would lose its code on the way. */
export function failure(code: string, message: string): Failure {
  return { code, message };
}

export function failureOf(error: unknown): Failure {
  if (isFailure(error)) return { code: error.code, message: error.message };
  if (error instanceof DOMException && error.name === "AbortError") return failure("aborted", "It was stopped");
  return failure("internal", messageOf(error));
}

function isFailure(error: unknown): error is Failure {
  return typeof error === "object" && error !== null && typeof (error as Failure).code === "string" && typeof (error as Failure).message === "string";
}
