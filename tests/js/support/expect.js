import assert from "node:assert/strict";
import { Token2TextError } from "../../../pkg/errors.js";

/**
 * Checks that a call throws, or a promise is rejected with, an error of this code whose message has these words.
 *
 * @param {string} code
 * @param {RegExp} words
 */
export function failure(code, words) {
  return (/** @type {unknown} */ error) => {
    assert.ok(error instanceof Token2TextError, `not a Token2TextError: ${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };
}
