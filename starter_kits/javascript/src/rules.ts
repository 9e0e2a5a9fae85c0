// The rules of a game as a program, for `referee --game ./folder` (protocol/SPEC.md, part two).
//
// Rules are pure functions. The referee sends a position, the answers and the luck; the rules return the next position
// and what follows from it. They keep nothing in between, and read no clock, file or random numbers.
//
// A game derives from `Rules` and ends with `run(MyGame)`. Positions, options, params and answers are JSON values.
// `randomGame` is for its tests.

import { integer, items, list, type Members, members, text } from "./read.js";
import { choose, METHOD_NOT_FOUND, Refusal, serve, Server } from "./server.js";

export type { Members } from "./read.js";

const VERSION = 1;
const INVALID_OPTIONS = -32602;
const OPTIONAL = ["view", "legal", "sample", "forfeit", "stop", "deal", "inject"] as const;
const HARMLESS: readonly string[] = ["timeout", "error", "illegal"];
const BITS = 1n << 64n;

/**
 * The luck of one step: the same luck gives the same draws. A game without luck ignores it. SplitMix64, as in the other
 * kits and in the referee's own games.
 */
export class Luck {
  #state: bigint;

  constructor(readonly seed: bigint) {
    this.#state = seed;
  }

  /** Draws 64 random bits. */
  bits(): bigint {
    this.#state = BigInt.asUintN(64, this.#state + 0x9e3779b97f4a7c15n);
    let z = this.#state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  }

  /** Draws a whole number from 0 up to `n`, which is not among them. */
  below(n: number): number {
    if (!(n >= 1)) throw new RangeError("nothing to draw from");
    const limit = BITS - (BITS % BigInt(n)); // the last numbers would favour small results
    for (;;) {
      const value = this.bits();
      if (value < limit) return Number(value % BigInt(n));
    }
  }

  /** Draws one of the items. */
  choice<T>(from: readonly T[]): T {
    return from[this.below(from.length)];
  }

  /** Shuffles the items in place. */
  shuffle(all: unknown[]): void {
    for (let i = all.length - 1; i > 0; --i) {
      const j = this.below(i + 1);
      [all[i], all[j]] = [all[j], all[i]];
    }
  }
}

/** What `start` throws for options that make no match. The user sees the message. */
export class InvalidOptions extends Refusal {
  constructor(message: string) {
    super(INVALID_OPTIONS, message);
  }
}

/** Stands for the answer of a bot that gave none, or none of the right type. */
export class Fault {
  constructor(
    /** timeout, crash, illegal, …: SPEC.md, 17 */
    readonly kind: string,
    /** a line for the bot's author */
    readonly detail: string,
    /** what the bot sent, if the kind is illegal */
    readonly answer?: unknown,
  ) {}

  /** Whether the bot's process has ended: the seat is out, and no turn may await it. */
  get fatal(): boolean {
    return !HARMLESS.includes(this.kind);
  }
}

/** How the match ended, in the order of the seats. */
export interface Result {
  /** 1 = best; ties share a rank */
  ranks: number[];
  /** 1, 0.5 and 0 for win, draw and loss, or points */
  scores: number[];
  /** in a few words */
  reason: string;
}

/** What a seat may see, and perhaps the position drawn for it. */
export interface View {
  view: object;
  text?: string;
}

/** A position and what follows from it. The methods add to it, and return it. */
export class Turn<P> {
  /** By seat, whose answers are awaited; none = the match is over. */
  readonly calls: { [seat: number]: { method: string; params: object } } = {};
  readonly notices: { method: string; params: object; to?: number[] }[] = [];
  readonly rulings: Members[] = [];
  result?: Result;
  /** the seats that are never called again */
  out: number[] = [];
  /** how well each seat stands, for people only */
  scores: number[] = [];
  /** what a painter draws besides the view */
  marks?: object;
  /** the calls have the time limit of the opening */
  opening = false;
  /** after `start`: options that are valid, but not played exactly as given */
  warnings: string[] = [];

  constructor(
    readonly position: P,
    /** the position, drawn for people */
    public text = "",
  ) {}

  /** Asks a seat for an answer. `params`: what this seat may see. */
  ask(seat: number, method: string, params: object = {}): this {
    this.calls[seat] = { method, params };
    return this;
  }

  /** Tells every seat something, or those in `to`. An empty `to`: the replay and its viewers. */
  notice(method: string, params: object, to?: number[]): this {
    this.notices.push(to === undefined ? { method, params } : { method, params, to });
    return this;
  }

  /** Refuses an answer. `detail`: a line with what came and what was expected; `penalty`: what it costs. */
  refuse(seat: number, detail: string, penalty = "loses"): this {
    return this.#rule({ seat, kind: "illegal", detail, penalty });
  }

  /** Says what a given `Fault` costs. Every fault needs this. */
  punish(seat: number, penalty = "loses"): this {
    return this.#rule({ seat, penalty });
  }

  /** Decides the match. Calls of the same turn are closing calls. */
  end(result: Result): this {
    this.result = result;
    return this;
  }

  #rule(ruling: Members): this {
    this.rulings.push(this.notices.length > 0 ? { ...ruling, after: this.notices.length } : ruling);
    return this;
  }

  /** The turn as it is sent. Members that say nothing are left out. */
  toJSON(): Members {
    const { position, calls, ...rest } = this;
    const says = (value: unknown) => value !== undefined && value !== "" && value !== false;
    const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
    const sent = Object.entries(rest).filter(([, value]) => says(value) && !isEmpty(value));
    return { position, calls, ...Object.fromEntries(sent) };
  }
}

/** The answers of all seats that were called: values or faults. */
export type Answers<A> = { [seat: number]: A | Fault };

/** The rules of a game. The kit tells the referee which of the optional methods a game has. */
export abstract class Rules<P, A = unknown> {
  /** The game's name in game.toml. */
  abstract readonly game: string;

  /** Returns the first position. Throws `InvalidOptions` if the options make no match. */
  abstract start(options: Members, seats: number, luck: Luck): Turn<P>;

  /** Returns the next position after one answer for each seat that was called. */
  abstract step(position: P, answers: Answers<A>, luck: Luck): Turn<P>;

  /** Returns what a seat may see; null: everything. Without it, nothing is hidden. */
  view?(position: P, seat: number | null): View;

  /** Returns the legal answers of an awaited seat in a fixed order, at most `most`; null: too many to list. */
  legal?(position: P, seat: number, most: number): A[] | null;

  /** Draws a legal answer. Needed where `legal` returns null. */
  sample?(position: P, seat: number, luck: Luck): A;

  /** Takes seats out that cannot play on. Without it, each loses, and the others share the win. */
  forfeit?(position: P, faults: { [seat: number]: Fault }, luck: Luck): Turn<P>;

  /** Ends the match from outside. Without it: a draw. */
  stop?(position: P, reason: string): Turn<P>;

  /** Draws again what is hidden from a seat; null: from the awaited seats together. Without it, a person cannot take
   * back an answer. */
  deal?(position: P, seat: number | null, luck: Luck): Turn<P>;

  /** Plays what a seat did out of turn. Without it, nobody can act out of turn. */
  inject?(position: P, seat: number, answers: unknown[], reason: string, luck: Luck): Turn<P>;
}

/** Serves the rules until the referee ends the program. */
export function run<P, A>(rulesClass: new () => Rules<P, A>): void {
  const rules = new rulesClass();
  serve((write) => new RulesServer(rules, write));
}

class RulesServer<P, A> extends Server {
  constructor(
    readonly rules: Rules<P, A>,
    write: (frame: Uint8Array) => void,
  ) {
    super(write);
  }

  protected override take(method: string, message: Members): unknown {
    const { rules } = this;
    const params = members(message.params ?? {});
    const position = params.position as P;
    if (method === "initialize") return this.#initialize(params);
    if (method === "start") return rules.start(members(params.options), integer(params.seats), luckOf(params));
    if (method === "step") return rules.step(position, answersOf<A>(params), luckOf(params));
    if (method === "view" && rules.view) {
      return rules.view(position, params.seat === null ? null : integer(params.seat));
    }
    if (method === "legal" && rules.legal) {
      return rules.legal(position, integer(params.seat), integer(params.most));
    }
    if (method === "sample" && rules.sample) return rules.sample(position, integer(params.seat), luckOf(params));
    if (method === "forfeit" && rules.forfeit) return rules.forfeit(position, faultsOf(params), luckOf(params));
    if (method === "stop" && rules.stop) return rules.stop(position, text(params.reason));
    if (method === "deal" && rules.deal) {
      const seat = typeof params.seat === "number" ? integer(params.seat) : null;
      return rules.deal(position, seat, luckOf(params));
    }
    if (method === "inject" && rules.inject) {
      const answers = items(params.answers);
      return rules.inject(position, integer(params.seat), answers, text(params.reason), luckOf(params));
    }
    throw new Refusal(METHOD_NOT_FOUND, `unknown request ${method}`);
  }

  #initialize(params: Members): Members {
    const { game } = this.rules;
    if ((params.rules ?? VERSION) !== VERSION || (params.game ?? game) !== game) {
      throw new Error(`these are rules of ${game}, version ${VERSION}; asked for: ${JSON.stringify(params)}`);
    }
    this.encoding = choose(list(text)(params.encodings ?? ["json"]));
    return { name: game, encoding: this.encoding, requests: OPTIONAL.filter((name) => this.rules[name]) };
  }
}

function luckOf(params: Members): Luck {
  return new Luck(BigInt(`0x${text(params.luck)}`));
}

function faultsOf(params: Members): { [seat: number]: Fault } {
  const faults = Object.entries(members(params.faults)).map(([seat, fault]) => {
    const { kind, detail, answer } = members(fault);
    return [seat, new Fault(text(kind), text(detail), answer)];
  });
  return Object.fromEntries(faults);
}

function answersOf<A>(params: Members): Answers<A> {
  return { ...(members(params.answers) as Answers<A>), ...faultsOf(params) };
}

/**
 * For a game's tests: plays random legal answers to the end, and returns all turns.
 *
 * Throws an error for what `referee check` would find too: a legal answer that is ruled, a step that does not follow
 * from what it is given, a result that does not rank all seats, a match without end.
 */
export function randomGame<P, A>(rules: Rules<P, A>, options: Members = {}, seats = 2, seed = 1n): Turn<P>[] {
  const most = 10_000;
  const hold = (holds: boolean, rule: string) => {
    if (!holds) throw new Error(rule);
  };
  const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
  const askedTwice = (ask: (luck: Luck) => Turn<P>, bits: bigint) => {
    const turn = ask(new Luck(bits));
    const [sent, again] = [JSON.stringify(turn), JSON.stringify(ask(new Luck(bits)))];
    hold(sent === again, `the same question has another answer: ${again} after ${sent}`);
    return turn;
  };
  const luck = new Luck(seed);
  let turn = askedTwice((given) => rules.start(copy(options), seats, given), luck.bits());
  const turns = [turn];
  for (let awaited; (awaited = Object.keys(turn.calls).map(Number)).length > 0;) {
    hold(turns.length <= most, `no end after ${most} steps`);
    const position = copy(turn.position);
    const answers: Answers<A> = {};
    for (const seat of awaited) {
      const legal = rules.legal?.(position, seat, 1000) ?? null;
      hold(legal !== null || rules.sample !== undefined, "the rules have neither legal answers nor sample");
      answers[seat] = copy(legal === null ? rules.sample!(position, seat, luck) : luck.choice(legal));
    }
    turn = askedTwice((given) => rules.step(copy(position), copy(answers), given), luck.bits());
    hold(turn.rulings.length === 0, `a legal answer is ruled: ${JSON.stringify(answers)}`);
    turns.push(turn);
  }
  const { result } = turn;
  hold(result !== undefined, "the match is over without a result");
  hold(result?.ranks.length === seats && result.scores.length === seats, "the result does not rank all seats");
  return turns;
}
