/** What `token2text/rollout-trace` makes of inputs and outputs of any kind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { traced } from "../../pkg/rollout-trace.js";
import { recorded, start } from "./support/tracing.js";

/** What is recorded of one call's inputs and output. @param {(...args: any[]) => any} fn @param {...any} args */
async function recordOf(fn, ...args) {
  await start();
  await traced("call", fn)(...args);
  return (await recorded())[0];
}

test("inputs and output are as they were at the call, and are not touched", async () => {
  await start();
  const input = Object.freeze({ prompt_ids: Object.freeze([1, 2]), typed: new Int32Array([3]), inner: { list: [{ a: 1 }] } });
  const output = { token_ids: [4], typed: new Float64Array([0.5]) };
  const call = traced("call", async (/** @type {any} */ given) => {
    given.typed[0] = 99;
    given.inner.list[0].a = 99;
    given.inner.list.push(99);
    return output;
  });
  assert.equal(await call(input), output);
  output.token_ids.push(99);
  output.typed[0] = 99;
  const [{ inputs, output: told }] = await recorded();
  assert.deepEqual(inputs, { prompt_ids: [1, 2], typed: [3], inner: { list: [{ a: 1 }] } });
  assert.deepEqual(told, { token_ids: [4], typed: [0.5] });
});

test("arguments are named by the object that holds them, by the option `parameters`, or by their place", async () => {
  await start();
  const fn = (/** @type {unknown[]} */ ..._args) => null;
  traced("object", fn)({ a: 1, b: undefined });
  traced("parameters", fn, { parameters: ["request_id", "prompt_ids", "kwargs"] })("r", [1]);
  traced("one", fn, { parameters: ["options"] })({ a: 1 });
  traced("places", fn)("r", { a: 1 });
  traced("class", fn)(new (class Thing { x = 1; })());
  traced("none", fn)();
  assert.deepEqual((await recorded()).map(({ inputs }) => inputs), [
    { a: 1 },
    { request_id: "r", prompt_ids: [1], kwargs: null },
    { options: { a: 1 } },
    { arg0: "r", arg1: { a: 1 } },
    { arg0: { x: 1 } },
    {},
  ]);
});

class Point {
  #secret = 1;
  x = 1;
  get y() {
    return assert.fail("a getter was asked") ?? this.#secret;
  }
  toJSON() {
    assert.fail("toJSON was asked");
  }
}
/** @type {any} */
const circular = { name: "loop" };
circular.self = circular;
const shared = { a: 1 };
let deep = /** @type {any} */ ("bottom");
for (let i = 0; i < 150; i++) deep = [deep];
const [proxy, proxyOfFunction] = [{}, () => {}].map((target) => {
  const { proxy, revoke } = Proxy.revocable(target, { get: assert.fail });
  revoke();
  return proxy;
});

/** A value and what is recorded of it. @type {[string, unknown, unknown][]} */
const VALUES = [
  ["a function", function add() {}, "<function add>"],
  ["a symbol", Symbol("s"), "<Symbol(s)>"],
  ["a circle", circular, { name: "loop", self: "<circular>" }],
  ["what stands in several places", [shared, shared], [{ a: 1 }, { a: 1 }]],
  ["numbers", [1.5, -0, NaN, Infinity, -Infinity, 2 ** 53], [1.5, 0, "NaN", "Infinity", "-Infinity", 2 ** 53]],
  ["a BigInt", [12n, { n: -3n }], [12, { n: -3 }]],
  ["a Date", [new Date(0), new Date(NaN)], ["1970-01-01T00:00:00.000Z", "<Invalid Date>"]],
  ["an instance", new Point(), { x: 1 }],
  ["own accessors", Object.defineProperty({ a: 1 }, "b", { enumerable: true, get: assert.fail }), { a: 1, b: "<getter>" }],
  ["an instance without members", new (class Empty {})(), "<Empty>"],
  ["typed arrays", [new Uint32Array([1, 2]), new Float32Array([0.5]), new BigInt64Array([5n]), Buffer.from([7])], [[1, 2], [0.5], [5], [7]]],
  ["buffers", [new ArrayBuffer(3), new DataView(new ArrayBuffer(4))], ["<ArrayBuffer of 3 bytes>", "<DataView of 4 bytes>"]],
  ["a Map", [new Map([["a", 1]]), new Map([[shared, 1]])], [{ a: 1 }, [[{ a: 1 }, 1]]]],
  ["a Set", new Set([1, "b"]), [1, "b"]],
  ["an Error", new TypeError("wrong"), "TypeError: wrong"],
  ["a RegExp and a URL", [/a"b/g, new URL("http://h/p")], ['/a"b/g', "http://h/p"]],
  ["a Promise", Promise.resolve(1), "<Promise>"],
  ["a Proxy", [proxy, proxyOfFunction, new Proxy([1], { get: assert.fail })], ["<Proxy>", "<Proxy>", "<Proxy>"]],
  ["undefined", [undefined, { a: undefined }], [null, {}]],
  ["holes", [1, , 2], [1, null, 2]], // eslint-disable-line no-sparse-arrays
  ["billions of holes", new Array(4e9), "<left out: over 16 MiB>"],
  ["a long string", ["x".repeat(17 << 20), 1], ["<left out: over 16 MiB>", 1]],
  ["long keys", { a: 1, ["k".repeat(17 << 20)]: 2, b: 3 }, { a: 1, "<2 more>": "<left out: over 16 MiB>" }],
  ["keys of all kinds", JSON.parse('{"__proto__":{"a":1},"":2,"2":3,"\\u0000":4}'), JSON.parse('{"__proto__":{"a":1},"":2,"2":3,"\\u0000":4}')],
  ["no prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ["half a character", "\ud800", "\ufffd"],
];

for (const [what, value, wanted] of VALUES) {
  test(`${what} is recorded without an exception`, async () => {
    const { inputs, output } = await recordOf((/** @type {any} */ given) => ({ given: given.value, then: undefined }), { value });
    assert.deepEqual(inputs, { value: wanted });
    assert.deepEqual(output, { given: wanted });
  });
}

test("what nothing can be asked of is returned all the same", async () => {
  await start();
  assert.equal(traced("call", () => proxyOfFunction)(), proxyOfFunction);
  assert.deepEqual((await recorded()).map(({ output }) => output), ["<Proxy>"]);
});

test("what is too deep is left out in words, at the same level for every backend", async () => {
  const { output } = await recordOf(() => ({ deep }));
  let levels = 1;
  let at = output.deep;
  for (; Array.isArray(at); at = at[0]) levels++;
  assert.equal(at, "<deeper than 100 levels>");
  assert.equal(levels, 100);
});
