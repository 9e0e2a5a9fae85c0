import { expect, test } from "vitest";
import { chart } from "../src/views/charts";

test("a value that stands alone is drawn, wherever it stands", () => {
  for (const line of [[3], [undefined, 3], [3, undefined, undefined], [undefined, 3, undefined]]) {
    const drawn = chart("score", [line]).paths[0]!;
    const [, x, wide] = /^M([\d.]+) [\d.]+h(\d+)$/.exec(drawn)!;
    expect(Number(x) + Number(wide)).toBeLessThanOrEqual(600);
  }
  expect(chart("score", [[undefined, undefined]])).toMatchObject({ reach: "no value", paths: [""] });
});

test("how far values reach is said as it is", () => {
  expect(
    chart("score", [
      [0, 0],
      [0, 0],
    ]).reach,
  ).toBe("always 0");
  expect(
    chart("score", [
      [0, 1],
      [0, 0.5],
    ]).reach,
  ).toBe("up to 1");
  expect(chart("time", [[0.123, 0.2]]).reach).toBe("up to 0.20");
  expect(chart("time", [[3, 12.6]]).reach).toBe("up to 13");
});

test("negative values lie below zero, and zero is on the chart", () => {
  const drawn = chart("score", [[0, -50, 50, 100]]);
  expect(drawn.reach).toBe("-50 to 100");
  const heights = [...drawn.paths[0]!.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
  expect(heights).toEqual([39.7, 59, 20.3, 1]);
  const [zero, lost] = [...chart("score", [[0, -50]]).paths[0]!.matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) =>
    Number(y),
  );
  expect([zero, lost]).toEqual([1, 59]);
});
