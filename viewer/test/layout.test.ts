import { expect, test } from "vitest";
import { type Declared, UNIT, placed } from "../src/games/layout";

const GRID = { kind: "grid", columns: 2, cells: [{ name: "a" }, {}, {}, { name: "d" }] } as const;
const BOARD = { parts: [GRID, { ...GRID, beside: true }] } as unknown as Declared;

test("parts stand beside each other, and below each other in a narrow window", () => {
  const [wide, narrow] = [placed(BOARD, false), placed(BOARD, true)];
  expect([wide.height, narrow.width]).toEqual([2 * UNIT, 2 * UNIT]);
  expect(wide.width).toBeGreaterThan(4 * UNIT);
  expect(narrow.height).toBeGreaterThan(4 * UNIT);
  expect(wide.cells.length).toBe(8);
});

test("a part is in the middle below its title", () => {
  const { width, cells, labels } = placed({ parts: [{ kind: "row", title: "a long title", cells: [{}] }] }, false);
  expect(cells[0]!.x).toBe(width / 2);
  expect(labels).toMatchObject([{ text: "a long title", x: width / 2, kind: "title" }]);
});

test("pieces of a tall cell begin at the edge of the board", () => {
  const cells = [{}, {}, {}, {}];
  const { cells: found } = placed({ parts: [{ kind: "grid", columns: 2, cells, tall: 5 }] }, false);
  expect(found.map(({ stacked }) => stacked)).toEqual([1, 1, -1, -1]);
});

test("a line to a point that is not there is left out", () => {
  const { lines } = placed({ parts: [{ kind: "points", points: [{}], lines: [[0, 3]] }] }, false);
  expect(lines).toEqual([]);
});

test("a row without cells, and a text without lines, have a place", () => {
  const { width, height } = placed(
    {
      parts: [
        { kind: "row", cells: [] },
        { kind: "text", lines: [] },
      ],
    },
    false,
  );
  expect(width).toBeGreaterThan(0);
  expect(height).toBeGreaterThan(0);
});
