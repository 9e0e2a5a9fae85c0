// The part of Node that the kit and its libraries use, for QuickJS. `main.c` has `host`.

const INPUT = 0;
const ERRORS = 2;
const WIRE = 11; // where main.c has put standard output
const CHUNK_BYTES = 1 << 16;

const { host } = globalThis;

Math.random = host.random;

export class TextEncoder {
  encode(text) {
    return new Uint8Array(host.encode(text));
  }

  encodeInto(text, target) {
    const bytes = this.encode(text);
    target.set(bytes);
    return { read: text.length, written: bytes.length };
  }
}

export class TextDecoder {
  decode(bytes) {
    return host.decode(bytes);
  }
}

export class Buffer extends Uint8Array {
  static allocUnsafe(size) {
    return new Buffer(size);
  }

  static from(text) {
    return new Buffer(host.encode(text));
  }

  toString() {
    return host.decode(this);
  }

  write(text, at) {
    this.set(Buffer.from(text), at);
  }

  indexOf(wanted, from = 0) {
    if (typeof wanted === "number") return super.indexOf(wanted, from);
    const bytes = Buffer.from(wanted);
    let at = from - 1;
    do at = super.indexOf(bytes[0], at + 1);
    while (at >= 0 && !bytes.every((byte, place) => this[at + place] === byte));
    return at;
  }
}

function shown(value) {
  if (value instanceof Error) return `${value}\n${value.stack}`;
  if (typeof value !== "object" || value === null) return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return String(value); // it holds itself, or a bigint
  }
}

const log = (...values) => printText(`${values.map(shown).join(" ")}\n`);
export const console = { log, info: log, debug: log, warn: log, error: log };

let onError = log; // what happens with an error that nobody catches

const timers = new Map(); // by number, in the order of their start
let lastTimer = 0;

/** Starts a timer as in Node: with arguments for the function, whose error does not end the program. */
const timer =
  (repeats) =>
  (call, delay_ms = 0, ...values) => {
    const run = () => {
      try {
        call(...values);
      } catch (error) {
        onError(error);
      }
    };
    const every_ms = Math.max(delay_ms, 0) || 0;
    timers.set(++lastTimer, { number: lastTimer, due_ms: Date.now() + every_ms, every_ms, repeats, run });
    return lastTimer;
  };

export const setTimeout = timer(false);
export const setInterval = timer(true);
export const clearTimeout = (number) => void timers.delete(number);
export const clearInterval = clearTimeout;

/** Waits for the next timer and runs it. Returns false if there is none. For `main.c`, when nothing else is due. */
host.tick = () => {
  let next;
  for (const each of timers.values()) if (!next || each.due_ms < next.due_ms) next = each;
  if (!next) return false;
  host.sleep(next.due_ms - Date.now());
  if (next.repeats) next.due_ms = Date.now() + next.every_ms;
  else timers.delete(next.number);
  next.run();
  return true;
};

/** Reads the input a chunk at a time. Nothing more is read until `receive` has kept its promise. */
async function read(receive, end) {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let size; (size = host.read(INPUT, chunk.buffer)) > 0;) await receive(chunk.subarray(0, size));
  end();
}

function printText(text) {
  host.write(ERRORS, new Uint8Array(host.encode(text)));
}

const listeners = {};

export const process = {
  env: {},
  exit: host.exit,
  stdout: { write: printText },
  stderr: { write: printText },
  stdin: {
    on(event, listener) {
      listeners[event] = listener;
      if (event === "end") void read(listeners.data, listener);
    },
  },
  on(event, listener) {
    if (event === "uncaughtException") onError = listener;
  },
};

/** `node:fs` and `node:net`. The kit finds no pipes that it could open again, and takes `process.stdin`. */
export default {
  constants: {},
  fstatSync() {
    throw new Error("WebAssembly has no files");
  },
  writeSync(_fd, bytes, start) {
    return host.write(WIRE, bytes.subarray(start));
  },
};
