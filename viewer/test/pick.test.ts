import { expect, test } from "vitest";
import { painter } from "../src/games";
import { left, next, ways } from "../src/games/pick";
import type { Choice } from "../src/match";

const { sets, targets } = painter("reantics");
const ANSWERS = [
  [
    [0, 6],
    [1, 6],
  ],
  [
    [0, 6],
    [2, 7],
  ],
];
const CHOICE: Choice = {
  seat: 0,
  method: "getPlacement",
  number: 1,
  view: null,
  answers: ANSWERS,
  words: null,
  clicks: null,
  board: null,
  least: null,
  most: null,
  drafted: 0,
  wrong: "",
};

test("a pair of food is chosen with two clicks in any order", () => {
  const all = ways(CHOICE, targets!, true);
  expect(next(all, [])).toEqual(new Set(["0,6", "1,6", "2,7"]));
  for (const chosen of [
    ["2,7", "0,6"],
    ["0,6", "2,7"],
  ]) {
    const rest = left(all, chosen);
    expect(rest.map(({ answer }) => answer)).toEqual([ANSWERS[1]]);
  }
  expect(next(left(all, ["1,6"]), ["1,6"])).toEqual(new Set(["0,6"]));
});

test("where the order matters, a click leaves only what follows it", () => {
  expect(next(ways(CHOICE, targets!), [])).toEqual(new Set(["0,6"]));
});

test("placement says what a click sets", () => {
  const view = (own: number[], grass: number) => ({
    phase: 1,
    whoseTurn: 0,
    inventories: [
      { constrs: own.map((type) => ({ type, coords: [0, 0] })) },
      { constrs: [] },
      { constrs: Array.from({ length: grass }, (_, x) => ({ type: -2, coords: [x, 1] })) },
    ],
  });
  expect(sets!(view([], 0), "getPlacement")).toContain("your anthill");
  expect(sets!(view([-4], 0), "getPlacement")).toContain("your tunnel");
  expect(sets!(view([-4, -3], 2), "getPlacement")).toContain("grass 3 of 9");
  expect(sets!(view([-4, -3], 2), "getMove")).toBeUndefined();
});
