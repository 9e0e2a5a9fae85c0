// Bytes to messages and back: `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { encode } from "@msgpack/msgpack";
import { encoded, Frames, fromJson, MessagePackCutter, toJson } from "../src/frames.js";

const MESSAGES = [
  { method: "one" },
  { method: "two", params: { text: "(╯°□°)╯︵ ┻━┻", list: Array.from({ length: 70_000 }, (_, i) => i), map: {} } },
  { method: "three", params: { numbers: [0, -1, 0.5, 1e300, -(2 ** 31), 2 ** 40], flags: [true, false, null] } },
  { method: "four", params: { text: "x".repeat(200_000) } },
];
const LINES = Buffer.from(MESSAGES.map((message) => `${JSON.stringify(message)}\n`).join(""));
const PACKED = Buffer.concat(MESSAGES.map((message) => encode(message)));

/** Every message of a stream that arrives in pieces of this size. */
function read(frames: Frames, stream: Buffer, size: number): unknown[] {
  const found = [];
  for (let at = 0; at < stream.length; at += size) {
    frames.push(stream.subarray(at, at + size));
    for (let message; (message = frames.next()) !== undefined;) found.push(message);
  }
  return found;
}

for (const size of [1, 7, 4096, 1 << 20]) {
  test(`frames are cut out of pieces of ${size} bytes`, () => {
    assert.deepEqual(read(new Frames(), LINES, size), MESSAGES);
    const frames = new Frames();
    frames.encoding = "msgpack";
    assert.deepEqual(read(frames, PACKED, size), MESSAGES);
  });
}

test("only a line feed ends a line, blank lines and CRLF are accepted", () => {
  const stream = Buffer.from('\n\r\n{"a":"\u2028\u0085"}\r\n  \n{"b":1}\n{"c"');
  assert.deepEqual(read(new Frames(), stream, 3), [{ a: "\u2028\u0085" }, { b: 1 }]);
});

test("the encoding changes between two frames that came in one piece", () => {
  const frames = new Frames();
  frames.push(Buffer.concat([Buffer.from('{"a":1}\n'), encode({ b: 2 })]));
  assert.deepEqual(frames.next(), { a: 1 });
  frames.encoding = "msgpack";
  assert.deepEqual(frames.next(), { b: 2 });
  assert.equal(frames.next(), undefined);
});

test("a MessagePack frame that arrives byte by byte is looked at once", () => {
  const frame = PACKED.subarray(0, encode(MESSAGES[0]).length);
  const cutter = new MessagePackCutter();
  for (let size = 0; size < frame.length; ++size) assert.equal(cutter.cut(frame.subarray(0, size)), 0);
  assert.equal(cutter.cut(PACKED), frame.length);
});

test("bytes that are no frame are an error", () => {
  const frames = new Frames();
  frames.push(Buffer.from("hello\n"));
  assert.throws(() => frames.next(), SyntaxError);
});

test("whole numbers beyond 2^53 are bigints and lose nothing, in both encodings", () => {
  const text = "[-9223372036854775808,9007199254740993,18446744073709551615,9007199254740991,1234567890123456789.5]";
  const numbers = [-(2n ** 63n), 2n ** 53n + 1n, 2n ** 64n - 1n, 2 ** 53 - 1, 1234567890123456789.5];
  assert.deepEqual(fromJson(text), numbers);
  assert.equal(toJson(numbers.slice(0, 3)), "[-9223372036854775808,9007199254740993,18446744073709551615]");
  const frames = new Frames();
  frames.encoding = "msgpack";
  frames.push(encoded(text, "msgpack"));
  assert.deepEqual(frames.next(), numbers);
});

test("a number too large for the protocol's whole numbers is sent as a double, a bigint too large is refused", () => {
  assert.equal(toJson([2 ** 64, -(2 ** 70)]), "[1.8446744073709552e+19,-1.1805916207174113e+21]");
  assert.throws(() => toJson([2n ** 64n]), /18446744073709551616 cannot be sent/);
});

test("what JSON cannot say is replaced", () => {
  assert.equal(toJson([Number.NaN, Number.POSITIVE_INFINITY, undefined]), "[null,null,null]");
  assert.equal(toJson(undefined), "null");
  assert.equal(toJson({ "\ud83d": "a\udc00 \\ud83d 😁" }), '{"\ufffd":"a\ufffd \\\\ud83d 😁"}');
});

test("a key that nobody may send does no harm", () => {
  const hostile = fromJson('{"__proto__":{"player":"O"},"a":12345678901234567890}');
  const frames = new Frames();
  frames.encoding = "msgpack";
  frames.push(encoded('{"__proto__":{"player":"O"},"a":1}', "msgpack"));
  for (const value of [hostile, frames.next()]) {
    assert.equal(Object.getPrototypeOf(value), Object.prototype);
    assert.equal((value as { player?: string }).player, undefined);
  }
});
