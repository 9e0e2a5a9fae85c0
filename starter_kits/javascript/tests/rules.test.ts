// The rules half: luck, turns as they are sent, and what the helper for tests finds. `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, Luck, randomGame, Rules, Turn } from "../src/rules.js";

/** Two seats count down from three. Subclasses make a mistake. */
class Counter extends Rules<number, number> {
  readonly game = "counter";

  start(): Turn<number> {
    return new Turn(3).ask(0, "count");
  }

  step(position: number): Turn<number> {
    if (position === 0) return new Turn(0).end({ ranks: [1, 2], scores: [1, 0], reason: "zero" });
    return new Turn(position - 1).ask(position % 2, "count");
  }

  override legal(): number[] {
    return [1];
  }
}

test("luck draws what the referee's own games draw", () => {
  const luck = new Luck(7n);
  assert.equal(luck.bits(), 0x63cbe1e459320dd7n);
  assert.deepEqual(
    Array.from({ length: 8 }, () => luck.below(6)),
    [0, 0, 3, 4, 3, 4, 0, 5],
  );
  assert.equal(luck.choice(["a", "b", "c"]), "c");
  const cards = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
  luck.shuffle(cards);
  assert.deepEqual(cards, [4, 1, 2, 8, 5, 0, 9, 6, 7, 3]);
});

test("a turn is sent without what says nothing", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(new Turn({ left: 1 }))), { position: { left: 1 }, calls: {} });
  const turn = new Turn(0, "zero").notice("a", {}).notice("b", {}, []).punish(1).refuse(0, "no", "none");
  assert.deepEqual(JSON.parse(JSON.stringify(turn)), {
    position: 0,
    calls: {},
    notices: [
      { method: "a", params: {} },
      { method: "b", params: {}, to: [] },
    ],
    rulings: [
      { seat: 1, penalty: "loses", after: 2 },
      { seat: 0, kind: "illegal", detail: "no", penalty: "none", after: 2 },
    ],
    text: "zero",
  });
});

test("only a fault of a process that ended is fatal", () => {
  const kinds = ["timeout", "error", "illegal", "crash", "memory", "protocol"];
  assert.deepEqual(
    kinds.map((kind) => new Fault(kind, "").fatal),
    [false, false, false, true, true, true],
  );
});

test("a random game returns all turns", () => {
  assert.deepEqual(
    randomGame(new Counter()).map((turn) => turn.position),
    [3, 2, 1, 0, 0],
  );
});

const MISTAKES: [RegExp, (position: number) => Turn<number>][] = [
  [/the same question has another answer/, () => new Turn(Math.random()).ask(0, "count")],
  [/a legal answer is ruled/, (position) => new Turn(position).ask(0, "count").refuse(1, "no", "none")],
  [/no end after/, (position) => new Turn(position).ask(0, "count")],
  [/the match is over without a result/, (position) => new Turn(position)],
  [/does not rank all seats/, (position) => new Turn(position).end({ ranks: [1], scores: [1], reason: "over" })],
];

for (const [said, step] of MISTAKES) {
  test(`a random game finds: ${said.source}`, () => {
    class Mistaken extends Counter {
      override step(position: number): Turn<number> {
        return step(position);
      }
    }
    assert.throws(() => randomGame(new Mistaken()), said);
  });
}
