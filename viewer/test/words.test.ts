import { expect, test } from "vitest";
import { placed, spent, visible } from "../src/views/words";

test("what a page would obey or hide is escaped as the referee does", () => {
  for (const code of ["0000", "001b", "0085", "00ad", "061c", "200b", "200e", "2028", "2029", "202e", "2066", "feff"]) {
    expect(visible(`a${String.fromCharCode(parseInt(code, 16))}b`)).toBe(`a\\u${code}b`);
  }
  expect(visible(String.fromCodePoint(0xe0001))).toBe("\\U000e0001");
  expect(visible("┻━┻ é 🔴\n\tx")).toBe("┻━┻ é 🔴\n\tx");
});

test("a seat's place is a word where two play, and a draw is no win", () => {
  expect([0, 1].map((seat) => placed([1, 2], seat))).toEqual(["wins", "loses"]);
  expect([0, 1].map((seat) => placed([1, 1], seat))).toEqual(["draw", "draw"]);
  expect([0, 1, 2].map((seat) => placed([1, 3, 1], seat))).toEqual(["wins", "rank 3", "wins"]);
});

test("a time is shown with the limit of its call", () => {
  expect(spent(1240, 2)).toBe("1.24 ms of 2 s");
  expect(spent(40_000, 0.1)).toBe("40 ms of 100 ms");
  expect(spent(40_000, null)).toBe("40 ms");
  expect(spent(undefined, 2)).toBe("–");
});
