// The loop of bots and rules: frames come in, answers go out.

import fs from "node:fs";
import net from "node:net";
import { encoded, type Encoding, Frames, isEncoding, toJson } from "./frames.js";
import { list, type Members, text } from "./read.js";

const FAILED = -32000;
/** JSON-RPC's own number. */
export const METHOD_NOT_FOUND = -32601;

/** An error with a code of its own. It is no failure of the program, and no trace is printed. */
export class Refusal extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Serves on the program's pipes until the referee ends it. */
export function serve(newServer: (write: (frame: Uint8Array) => void) => Server): void {
  const { open, output } = pipes ?? takePipes() ?? takeStreams();
  const input = open();
  const server = newServer((frame) => writeAll(output, frame));
  process.on("uncaughtException", (error) => server.fail(error));
  input.on("data", (chunk: Uint8Array) => server.receive(chunk));
  input.on("end", () => server.end());
  input.on("error", () => server.end());
}

/** Answers the referee's messages, one after the other. */
export abstract class Server {
  readonly #frames = new Frames();
  #busy = false;
  #ended = false;
  #failOpenCall: ((error: unknown) => void) | undefined;

  constructor(readonly write: (frame: Uint8Array) => void) {}

  /** Answers a request, or hears a notification, at once or with a promise. */
  protected abstract take(method: string, message: Members): unknown;

  /** Of the next frame. */
  protected get encoding(): Encoding {
    return this.#frames.encoding;
  }
  protected set encoding(agreed: Encoding) {
    this.#frames.encoding = agreed;
  }

  /** Returns a promise if this has begun to answer. Node ignores it; in WebAssembly, no more is read until it is kept. */
  receive(chunk: Uint8Array): Promise<void> | undefined {
    this.#frames.push(chunk);
    return this.#busy ? undefined : this.#serve();
  }

  /** The end of the input: what came before it is still answered. */
  end(): void {
    this.#ended = true;
    if (!this.#busy) process.exit(0);
  }

  /** An uncaught error, as in a timer, is the failure of the open call, if there is one. */
  fail(error: unknown): void {
    if (this.#failOpenCall) this.#failOpenCall(error);
    else console.error(error);
  }

  /** An answer is in the encoding that its message came in, that to `initialize` too. */
  async #serve(): Promise<void> {
    this.#busy = true;
    for (let message; (message = this.#next()) !== undefined;) {
      if (message.method === "exit") process.exit(0);
      const answer = await this.#answer(message, this.#frames.encoding);
      if ("id" in message) this.write(answer);
    }
    this.#busy = false;
    if (this.#ended) process.exit(0);
  }

  #next(): Members | undefined {
    try {
      return this.#frames.next();
    } catch (error) {
      console.error("not a frame of the protocol:", error);
      process.exit(1);
    }
  }

  /** The frame that answers a message; for a notification it is not sent. */
  async #answer(message: Members, encoding: Encoding): Promise<Uint8Array> {
    const frame = (outcome: string) => encoded(`{"jsonrpc":"2.0","id":${toJson(message.id)},${outcome}}`, encoding);
    try {
      const result = await this.#taken(text(message.method), message);
      return frame(`"result":${"id" in message ? toJson(result) : "null"}`);
    } catch (error) {
      const refused = error instanceof Refusal;
      if (!refused) console.error(error);
      const code = refused ? error.code : FAILED;
      return frame(`"error":${toJson({ code, message: words(error) })}`);
    }
  }

  #taken(method: string, message: Members): unknown {
    const answer = this.take(method, message);
    return "id" in message && isPromise(answer) ? this.#unlessItFails(answer) : answer;
  }

  async #unlessItFails(answer: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await Promise.race([answer, new Promise((_, reject) => (this.#failOpenCall = reject))]);
    } finally {
      this.#failOpenCall = undefined;
    }
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function";
}

/** The first of the offered encodings that this kit speaks. */
export function choose(offered: unknown): Encoding {
  const found = list(text)(offered).find(isEncoding);
  if (found === undefined) throw new Error(`this program speaks json and msgpack, and was offered ${toJson(offered)}`);
  return found;
}

/** Writes a whole frame. A referee that has gone away is an end, not a failure. */
function writeAll(fd: number, frame: Uint8Array): void {
  for (let done = 0; done < frame.length;) {
    try {
      done += fs.writeSync(fd, frame, done);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") process.exit(0);
      if (code !== "EAGAIN") throw error;
    }
  }
}

/** The two ends of the wire. */
interface Pipes {
  open: () => NodeJS.ReadableStream;
  output: number;
}

/**
 * Takes the wire out of reach of the bot: both pipes under descriptors of our own, which children do not inherit; 0
 * becomes empty and 1 standard error. Node has no dup, but on Linux a pipe can be opened once more by its name in /proc.
 * Undefined where there are no pipes, or no such names.
 */
function takePipes(): Pipes | undefined {
  if (![0, 1].every((fd) => isPipe(fd))) return undefined;
  let input, output, errors;
  try {
    input = fs.openSync("/proc/self/fd/0", fs.constants.O_RDONLY);
    output = fs.openSync("/proc/self/fd/1", fs.constants.O_WRONLY);
    errors = fs.openSync("/proc/self/fd/2", APPEND);
  } catch {
    for (const fd of [input, output]) if (fd !== undefined) fs.closeSync(fd);
    return undefined;
  }
  // A descriptor that is opened gets the lowest free number: the one that was just closed.
  fs.closeSync(0);
  fs.openSync("/dev/null", fs.constants.O_RDONLY);
  for (const fd of [1, 2]) {
    fs.closeSync(fd); // 2 as well: where it is a file, both must append to it, or one would write over the other
    fs.openSync(`/proc/self/fd/${errors}`, APPEND);
  }
  fs.closeSync(errors);
  return { open: () => new net.Socket({ fd: input, readable: true, writable: false }), output };
}

const APPEND = fs.constants.O_WRONLY | fs.constants.O_APPEND;

function isPipe(fd: number): boolean {
  try {
    return fs.fstatSync(fd).isFIFO();
  } catch {
    return false; // it is closed
  }
}

/** In a terminal, or on another system: what is printed by way of the language's own objects is turned aside. */
function takeStreams(): Pipes {
  process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
  return { open: () => process.stdin, output: 1 };
}

// On import already where the referee has started the program, so that the rest of the bot's file may print.
const pipes = process.env.REFEREE_BOT === undefined ? undefined : takePipes();
delete process.env.REFEREE_BOT; // not for programs that the bot starts
