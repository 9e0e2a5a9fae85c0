// The rules' own tests: `npm test`.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, randomGame } from "referee-kit/rules";
import { Hexapawn } from "../hexapawn.js";

const game = new Hexapawn();
const start = { board: ["xxx", "...", "ooo"], turn: 0 };

test("random games end with a result", () => {
  for (let width = 3; width <= 7; ++width) {
    for (let seed = 0n; seed < 20n; ++seed) {
      const turns = randomGame(game, { width }, 2, seed);
      assert.match(turns[turns.length - 1].result!.reason, /^(far_row|no_move)$/);
    }
  }
});

test("a pawn takes diagonally and not forward", () => {
  const position = { board: ["...", ".xx", ".o."], turn: 0 };
  assert.deepEqual(game.legal(position, 0, 100), [{ pawn: "b1", to: "c2" }]);
});

test("an illegal move loses", () => {
  const turn = game.step(start, { 0: { pawn: "a1", to: "a3" } });
  assert.equal(turn.rulings[0].detail, "a1 to a3 is no move now");
  assert.deepEqual(turn.result?.ranks, [2, 1]);
});

test("a fault loses", () => {
  const turn = game.step(start, { 0: new Fault("timeout", "no answer within 1000 ms") });
  assert.deepEqual(turn.result, { ranks: [2, 1], scores: [0, 1], reason: "timeout" });
});
