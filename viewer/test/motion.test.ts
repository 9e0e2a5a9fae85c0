// Ways and turns of pieces.

import { expect, test } from "vitest";
import { way } from "../src/games/aiarena21";
import { facing } from "../src/games/motion";

test("a player's way goes round blocked cells in at most three steps", () => {
  const cells = ["...", ".#.", "..."];
  expect(way(cells, [0, 0], [0, 1])).toEqual([
    [0, 0],
    [0, 1],
  ]);
  expect(way(cells, [0, 1], [1, 2])).toEqual([
    [0, 1],
    [0, 2],
    [1, 2],
  ]);
  expect(way(cells, [0, 1], [2, 1])).toBeUndefined(); // four steps: through a portal
  expect(way(cells, [1, 0], [1, 0])).toEqual([[1, 0]]);
});

test("an ant turns the shorter way to each part of its path, and in the end as it stood", () => {
  const turns = (rests: number) =>
    facing(
      [
        [0, 0],
        [1, 0],
        [1, -1],
      ],
      rests,
    ).map((frame) => frame.transform);
  expect(turns(0)).toEqual(["rotate(90deg)", "rotate(90deg)", "rotate(0deg)", "rotate(0deg)", "rotate(0deg)"]);
  expect(turns(180).at(-1)).toBe("rotate(180deg)");
});
