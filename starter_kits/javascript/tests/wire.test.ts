// What a bot sees: its games' types, its clock, its luck. `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { getAnthill, getQueen, getTunnels, isSame } from "../src/ants.js";
import * as read from "../src/read.js";
import {
  type Ant,
  ANTHILL,
  type AntType,
  type Construction,
  type Coord,
  type GameState,
  type Inventory,
  type Move,
  QUEEN,
  ReAnticsBot,
  TUNNEL,
  WORKER,
} from "../src/reantics.js";
import { type Action, type ArenaEvent, TicTacToeBot } from "../src/tictactoe.js";
import { Bot, seeded, UnknownMethod } from "../src/wire.js";

const MATCH = { game: "", options: {}, seat: 0, names: [], limits: {}, seed: 0, random: seeded(0) };

const ANT = { id: 7, coords: [2, 1], type: 0, player: 0, health: 10, carrying: false, hasMoved: true, unknown: 5 };
const GRASS = { coords: [3, 3], type: -2, movementCost: 2, player: null };
const STATE = {
  phase: 3,
  whoseTurn: 1,
  inventories: [{ player: 0, foodCount: 4, ants: [ANT], constrs: [GRASS] }],
  board: [[null, { ant: 7 }]],
};

class Ants extends ReAnticsBot {
  seen: GameState | undefined;

  getPlacement(state: GameState): Coord[] {
    this.seen = state;
    return [[1, 2]];
  }
  async getMove(_state: GameState): Promise<Move> {
    return { moveType: 2 };
  }
  getAttack(_state: GameState, _ant: unknown, enemies: Coord[]): Coord {
    return enemies[1];
  }
}

test("a coordinate is a tuple, and its text is a key", () => {
  const [one, other]: Coord[] = [
    [2, 1],
    [2, 1],
  ];
  const [x, y] = one;
  assert.deepEqual([x, y], other);
  assert.ok(isSame(one, other) && !isSame(one, [1, 2]));
  assert.ok(new Set([String(one)]).has(String(other)));
});

test("a side has a queen, an anthill and tunnels", () => {
  const queen: Ant = { ...ANT, coords: [2, 1], type: QUEEN };
  const anthill: Construction = { coords: [2, 1], type: ANTHILL, movementCost: 1, player: 0, captureHealth: 3 };
  const tunnel: Construction = { ...anthill, coords: [7, 1], type: TUNNEL };
  const side: Inventory = { player: 0, foodCount: 1, ants: [queen], constrs: [tunnel, anthill] };
  assert.deepEqual([getQueen(side), getAnthill(side), getTunnels(side)], [queen, anthill, [tunnel]]);
  const empty: Inventory = { player: 1, foodCount: 1, ants: [], constrs: [] };
  assert.deepEqual([getQueen(empty), getAnthill(empty), getTunnels(empty)], [undefined, undefined, []]);
});

test("a number or text that the game does not have is an error, and as a member that may be absent it is absent", () => {
  const type = read.oneOf<AntType>([QUEEN, WORKER]);
  assert.equal(type(1), WORKER);
  assert.throws(() => type(7), /wanted one of \[0,1\], got 7/);
  assert.throws(() => type("1"), /wanted one of \[0,1\], got "1"/);
  assert.equal(read.maybe(7, type), undefined);
});

test("a state is read with its coordinates, and what is absent is undefined", () => {
  const bot = new Ants(MATCH);
  assert.deepEqual(bot.answer("getPlacement", { currentState: STATE }), [[1, 2]]);
  const [{ ants, constrs }] = bot.seen!.inventories;
  assert.deepEqual(ants[0].coords, [2, 1]);
  assert.ok(!("unknown" in ants[0]));
  assert.deepEqual([constrs[0].player, constrs[0].captureHealth], [undefined, undefined]);
  assert.deepEqual(bot.seen!.board, [[null, { ant: 7, constr: undefined }]]);
  bot.answer("getPlacement", { currentState: { ...STATE, board: 5 } });
  assert.equal(bot.seen!.board, undefined);
});

test("a parameter that is missing is an error that names what was wanted", () => {
  assert.throws(() => new Ants(MATCH).answer("getMove", {}), /wanted an object, got undefined/);
  const inventories = [{ ...STATE.inventories[0], foodCount: 0.5 }];
  const params = { currentState: { ...STATE, inventories } };
  assert.throws(() => new Ants(MATCH).answer("getMove", params), /wanted a whole number, got 0.5/);
});

test("an unknown method differs from a failure", () => {
  assert.throws(() => new Ants(MATCH).answer("getMoves", {}), UnknownMethod);
  assert.equal(new Ants(MATCH).notice("whatever", {}), undefined);
});

test("what a rival sent is shown as it was sent, beside it a wrong type is absent", () => {
  const heard: ArenaEvent[] = [];
  class Ear extends TicTacToeBot {
    override event(event: ArenaEvent): void {
      heard.push(event);
    }
    play(): Action {
      return { action: "putSymbol" };
    }
  }
  new Ear(MATCH).notice("event", {
    player: "X",
    action: null,
    position: { a: [1] },
    winner: 7,
    youAre: ["O"],
    id: true,
  });
  const absent = { youAre: undefined, id: undefined, winner: undefined };
  assert.deepEqual(heard, [{ player: "X", action: null, position: { a: [1] }, ...absent }]);
});

test("a reader takes its own type and no other", () => {
  const readers = { number: read.number, integer: read.integer, boolean: read.boolean, text: read.text };
  const taken = Object.entries(readers).map(([name, reader]) => {
    const values = [1, 0.5, true, "a", null, undefined, [], {}];
    return [name, values.filter((value) => read.maybe<unknown>(value, reader) !== undefined)];
  });
  assert.deepEqual(Object.fromEntries(taken), { number: [1, 0.5], integer: [1], boolean: [true], text: ["a"] });
  assert.deepEqual(read.list(read.nullable(read.integer))([1, null]), [1, null]);
  assert.equal(read.maybe([[1, "a"]], read.list(read.pair)), undefined);
});

test("a bot begins without a clock", () => {
  assert.deepEqual(new Bot(MATCH).clock, {});
});

test("luck follows from the seed and is spread evenly", () => {
  assert.equal(seeded(2n ** 64n - 1n)(), seeded(2n ** 64n - 1n)());
  assert.equal(new Set([0, 1, 2n ** 32n, 2n ** 63n].map((seed) => seeded(seed)())).size, 4);
  const luck = seeded(5);
  const draws = Array.from({ length: 10_000 }, luck);
  assert.ok(draws.every((draw) => draw >= 0 && draw < 1));
  assert.ok(Math.abs(draws.reduce((sum, draw) => sum + draw) / draws.length - 0.5) < 0.02);
});
