// The wire between a bot and the referee, so that a bot need not know it.
//
// JSON-RPC 2.0 on standard input and output, as JSON lines or as MessagePack. A bot derives from its game's class
// (`ReAnticsBot` in "referee-kit/reantics") and ends with `run(MyBot)`.

import { integer, list, maybe, type Members, members, number, text } from "./read.js";
import { choose, METHOD_NOT_FOUND, Refusal, serve, Server } from "./server.js";

export type { Members } from "./read.js";

const PROTOCOL = 1;

/** The limits of a match; undefined = no such limit. */
export interface Limits {
  startup_ms?: number;
  call_ms?: number;
  /** in the opening, where it is another than later */
  opening_ms?: number;
  /** for a call after the result */
  closing_ms?: number;
  /** from exit to the program's end */
  exit_ms?: number;
  /** the bank of time that the bot starts with */
  initial_ms?: number;
  /** added to the bank after every answer */
  increment_ms?: number;
  cpu_ms?: number;
  memory_bytes?: number;
  /** that live at a time */
  processes?: number;
  /** one frame of the bot's */
  frame_bytes?: number;
  /** standard output in one call */
  call_output_bytes?: number;
  /** standard error that is kept */
  stderr_bytes?: number;
  /** one file that is written */
  file_bytes?: number;
  /** all files in HOME together */
  scratch_bytes?: number;
}

/** What `initialize` told about the match. */
export interface Match {
  game: string;
  options: Members;
  /** 0 moves first */
  seat: number;
  /** in the order of the seats */
  names: string[];
  limits: Limits;
  /** for the bot's own luck, which `random` draws from it. A bigint beyond ±2^53 */
  seed: number | bigint;
  /** A number from 0 up to 1, as `Math.random` gives: the same match gives the same ones. */
  random: () => number;
}

/** The time for the call that is being answered, in milliseconds; undefined = no such limit, or not known yet. */
export interface Clock {
  /** the limit of this call */
  call_ms?: number;
  /** the bank that is left */
  remaining_ms?: number;
  /** what the previous call was charged */
  last_ms?: number;
  /** how many answers until the bank gets more; undefined = it will not */
  answers_left?: number;
}

const followers: ((match: Match) => void)[] = [];
let current: Match | undefined;

/**
 * Calls `follow` with each match when it begins, before its bot is made, and with the current match at once. A game's
 * tables that depend on the options are set this way.
 */
export function onMatch(follow: (match: Match) => void): void {
  followers.push(follow);
  if (current) follow(current);
}

/** Thrown for a call that the bot does not know. */
export class UnknownMethod extends Refusal {
  constructor(method: string) {
    super(METHOD_NOT_FOUND, `unknown method ${method}`);
  }
}

/** A bot for one match, untyped. The games' files derive typed ones from it; each match gets a new object. */
export class Bot {
  /** The only game that it plays; undefined = any. */
  static readonly game: string | undefined = undefined;

  /** Of the call that is being answered. */
  clock: Clock = {};

  constructor(readonly match: Match) {}

  /** Answers a call, at once or with a promise. The referee gets whatever it throws as this bot's failure. */
  answer(method: string, _params: Members): unknown {
    throw new UnknownMethod(method);
  }

  /** Hears a notification; unknown ones are ignored. The next message waits for a promise to be kept. */
  notice(_method: string, _params: Members): unknown {
    return undefined;
  }
}

/** A class of bots. */
export interface BotClass {
  new (match: Match): Bot;
  readonly name: string;
  readonly game: string | undefined;
}

/** Plays matches with bots of this class until the referee ends it. `name`: the class's own if left out. */
export function run(botClass: BotClass, name: string = botClass.name, version = "1"): void {
  serve((write) => new BotServer(botClass, name, version, write));
}

/** Plays matches, each with a new bot. */
class BotServer extends Server {
  #bot: Bot | undefined;

  constructor(
    readonly botClass: BotClass,
    readonly name: string,
    readonly version: string,
    write: (frame: Uint8Array) => void,
  ) {
    super(write);
  }

  protected override take(method: string, message: Members): unknown {
    const { clock, ...params } = members(message.params ?? {});
    if (method === "initialize") return this.#initialize(params);
    if (!("id" in message)) return this.#bot?.notice(method, members(message.params ?? {}));
    if (!this.#bot) throw new Error(`${method} came before initialize`);
    this.#bot.clock = readClock(members(clock ?? {}));
    return this.#bot.answer(method, params);
  }

  #initialize(params: Members): Members {
    const protocol = params.protocol ?? PROTOCOL;
    if (protocol !== PROTOCOL) throw new Error(`the referee speaks protocol ${protocol}, this bot ${PROTOCOL}`);
    const match = readMatch(params);
    const { game } = this.botClass;
    if (game !== undefined && game !== match.game) throw new Error(`this bot plays ${game}, not ${match.game}`);
    const encoding = this.#bot ? this.encoding : choose(params.encodings ?? ["json"]);
    current = match;
    for (const follow of followers) follow(match);
    this.#bot = new this.botClass(match);
    this.encoding = encoding; // in force as soon as nothing can go wrong any more
    return { name: this.name, version: this.version, encoding, reuse: true };
  }
}

function readMatch(params: Members): Match {
  const limits = members(params.limits ?? {});
  const seed = typeof params.seed === "bigint" ? params.seed : (maybe(params.seed, integer) ?? 0);
  return {
    game: text(params.game),
    options: members(params.options ?? {}),
    seat: integer(params.seat ?? 0),
    names: list(text)(params.names ?? []),
    limits: {
      startup_ms: maybe(limits.startup_ms, number),
      call_ms: maybe(limits.call_ms, number),
      opening_ms: maybe(limits.opening_ms, number),
      closing_ms: maybe(limits.closing_ms, number),
      exit_ms: maybe(limits.exit_ms, number),
      initial_ms: maybe(limits.initial_ms, number),
      increment_ms: maybe(limits.increment_ms, number),
      cpu_ms: maybe(limits.cpu_ms, number),
      memory_bytes: maybe(limits.memory_bytes, number),
      processes: maybe(limits.processes, number),
      frame_bytes: maybe(limits.frame_bytes, number),
      call_output_bytes: maybe(limits.call_output_bytes, number),
      stderr_bytes: maybe(limits.stderr_bytes, number),
      file_bytes: maybe(limits.file_bytes, number),
      scratch_bytes: maybe(limits.scratch_bytes, number),
    },
    seed,
    random: seeded(seed),
  };
}

function readClock(json: Members): Clock {
  return {
    call_ms: maybe(json.call_ms, number),
    remaining_ms: maybe(json.remaining_ms, number),
    last_ms: maybe(json.last_ms, number),
    answers_left: maybe(json.answers_left, number),
  };
}

/** Numbers from 0 up to 1 that follow from the seed: the generator sfc32 of PractRand (public domain). */
export function seeded(seed: number | bigint): () => number {
  const bits = BigInt.asUintN(64, BigInt(seed));
  let [a, b, c, counter] = [0, Number(bits & 0xffffffffn) | 0, Number(bits >> 32n) | 0, 1];
  const next = () => {
    const drawn = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + drawn) | 0;
    return drawn >>> 0;
  };
  for (let round = 0; round < 12; ++round) next(); // until every bit of the seed has told
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}
