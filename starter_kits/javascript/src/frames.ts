// Bytes to messages and back, in both encodings.

import { decode, encode } from "@msgpack/msgpack";
import { parse as parseLossless, stringify as stringifyLossless } from "lossless-json";
import type { Members } from "./read.js";

export type Encoding = "json" | "msgpack";

export function isEncoding(name: unknown): name is Encoding {
  return name === "json" || name === "msgpack";
}

/** The referee's messages, one frame at a time. */
export class Frames {
  encoding: Encoding = "json"; // of the next frame
  #buffer = Buffer.allocUnsafe(1 << 16);
  #start = 0; // the bytes from here to #end are not yet given out
  #end = 0;
  #seen = 0; // up to here there is no line feed
  #cutter = new MessagePackCutter();

  push(chunk: Uint8Array): void {
    if (this.#end + chunk.length > this.#buffer.length) this.#makeRoom(chunk.length);
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  /** The next message; undefined: not all there yet. Throws for bytes that are no frame. */
  next(): Members | undefined {
    for (;;) {
      const length = this.#cut();
      if (length === 0) return undefined;
      const frame = this.#buffer.subarray(this.#start, this.#start + length);
      this.#start += length;
      this.#seen = this.#start;
      if (this.encoding === "msgpack") return fromMessagePack(frame) as Members;
      const line = frame.toString("utf8");
      if (line.trim() !== "") return fromJson(line) as Members;
    }
  }

  /** The length of the frame at #start, its line feed included; 0: not all there yet. */
  #cut(): number {
    if (this.encoding === "msgpack") return this.#cutter.cut(this.#buffer.subarray(this.#start, this.#end));
    const feed = this.#buffer.subarray(this.#seen, this.#end).indexOf(0x0a);
    if (feed >= 0) return this.#seen + feed + 1 - this.#start;
    this.#seen = this.#end;
    return 0;
  }

  #makeRoom(wanted: number): void {
    const left = this.#buffer.subarray(this.#start, this.#end);
    const enough = left.length + wanted <= this.#buffer.length / 2;
    const room = enough ? this.#buffer : Buffer.allocUnsafe(2 * (left.length + wanted));
    room.set(left);
    this.#buffer = room;
    this.#seen -= this.#start;
    this.#end -= this.#start;
    this.#start = 0;
  }
}

/**
 * Cuts a stream of MessagePack values without decoding them: counts the values still to come, so that a frame that
 * arrives in many pieces is looked at once.
 */
export class MessagePackCutter {
  #at = 0;
  #values = 1;

  /** Looks at `data`, the bytes from the frame's start that are there. The frame's length, or 0: not all there. */
  cut(data: Uint8Array): number {
    while (this.#values > 0 && this.#at < data.length) {
      const type = data[this.#at];
      let bytes = 0; // that follow the type
      let inside = 0; // values that follow
      if (type >= 0xc0 && type <= 0xdf) {
        const [width, more, each] = HEADS[type - 0xc0];
        if (data.length - this.#at <= width) return 0;
        let length = 0;
        for (let i = 1; i <= width; ++i) length = length * 256 + data[this.#at + i];
        bytes = width + more + (each === 0 ? length : 0);
        inside = each * length;
      } else if (type >= 0xa0 && type < 0xc0) {
        bytes = type & 0x1f;
      } else if (type >= 0x90 && type < 0xa0) {
        inside = type & 0x0f;
      } else if (type >= 0x80 && type < 0x90) {
        inside = 2 * (type & 0x0f);
      }
      this.#at += 1 + bytes;
      this.#values += inside - 1;
    }
    if (this.#values > 0 || this.#at > data.length) return 0;
    const length = this.#at;
    this.#at = 0;
    this.#values = 1;
    return length;
  }
}

// What follows the type bytes c0 to df: a length of that many bytes, that many bytes more, and for each unit of length
// so many values (1 array, 2 map) or, where that is 0, one byte.
type Head = readonly [width: number, more: number, each: number];
const HEADS: readonly Head[] = [
  [0, 0, 0],
  [0, 0, 0],
  [0, 0, 0],
  [0, 0, 0], // c0 nil, c1 never used, c2 false, c3 true
  [1, 0, 0],
  [2, 0, 0],
  [4, 0, 0], // c4 bin
  [1, 1, 0],
  [2, 1, 0],
  [4, 1, 0], // c7 ext
  [0, 4, 0],
  [0, 8, 0], // ca float
  [0, 1, 0],
  [0, 2, 0],
  [0, 4, 0],
  [0, 8, 0], // cc uint
  [0, 1, 0],
  [0, 2, 0],
  [0, 4, 0],
  [0, 8, 0], // d0 int
  [0, 2, 0],
  [0, 3, 0],
  [0, 5, 0],
  [0, 9, 0],
  [0, 17, 0], // d4 fixext
  [1, 0, 0],
  [2, 0, 0],
  [4, 0, 0], // d9 str
  [2, 0, 1],
  [4, 0, 1], // dc array
  [2, 0, 2],
  [4, 0, 2], // de map
];

/** A JSON text's value. Whole numbers beyond ±2^53, which a number cannot hold, become a bigint. */
export function fromJson(text: string): unknown {
  return /[^.\d]\d{16}/.test(text) ? parseLossless(text, null, LOSSLESS) : JSON.parse(text);
}

const LOSSLESS = {
  parseNumber: (digits: string) =>
    /^-?\d+$/.test(digits) && !Number.isSafeInteger(Number(digits)) ? BigInt(digits) : Number(digits),
  onDuplicateKey: ({ newValue }: { newValue: unknown }) => newValue,
};

/**
 * A value as JSON text that the protocol allows: NaN and Infinity become null, a lone surrogate the sign for what is no
 * character. Throws for a value that JSON cannot hold.
 */
export function toJson(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (!String(error).includes("BigInt")) throw error;
  }
  // JSON.stringify refuses bigints, and writes 2^64 in digits, as if it were a whole number of the protocol.
  if (text === undefined || /\d{19}/.test(text)) text = stringifyLossless(value, null, undefined, LARGE) ?? "null";
  // Outside of pairs JSON.stringify writes surrogates so; a backslash that is the text's own is doubled.
  if (!text.includes("\\ud")) return text;
  return text.replace(/(\\\\)|\\ud[89a-f]../g, (_, backslash) => backslash ?? "\ufffd");
}

const LARGE = [
  {
    test: (value: unknown) => typeof value === "number" && Math.abs(value) >= 2 ** 63 && Number.isFinite(value),
    stringify: (value: unknown) => (value as number).toExponential(),
  },
  {
    test: (value: unknown) => typeof value === "bigint" && (value < -(2n ** 63n) || value >= 2n ** 64n),
    stringify: (value: unknown): string => {
      throw new RangeError(`${value} cannot be sent: whole numbers go from -2^63 to 2^64-1`);
    },
  },
];

function fromMessagePack(frame: Buffer): unknown {
  // The library refuses this key, and nobody may end a rival's bot by sending it.
  for (let at; (at = frame.indexOf("__proto__")) >= 0;) frame.write("__Proto__", at);
  const mayHoldLong = frame.includes(0xcf) || frame.includes(0xd3);
  return mayHoldLong ? shortened(decode(frame, { useBigInt64: true })) : decode(frame);
}

/** `value` with a number for each bigint that is not beyond ±2^53. */
function shortened(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]));
}

/** The bytes of the frame whose JSON text this is. */
export function encoded(text: string, encoding: Encoding): Uint8Array {
  return encoding === "json" ? Buffer.from(`${text}\n`) : encode(fromJson(text), ENCODING);
}

const ENCODING = { useBigInt64: true, maxDepth: 256 };
