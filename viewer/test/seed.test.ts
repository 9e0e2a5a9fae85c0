import { expect, test } from "vitest";
import { Reader } from "../src/match";

test.each(["18139624391198995991", "7"])("the seed %s is shown as it is written", (seed) => {
  const reader = new Reader();
  reader.take(`[0,{"replay":1,"options":{"seed":3},"setup":{"seed":${seed},"options":{"seed":4}}}]`);
  expect(reader.match.header.setup.seed).toBe(seed);
});

test("a seed that is not told yet is none", () => {
  const reader = new Reader();
  reader.take('[0,{"replay":1,"setup":{"seed":null,"options":null}}]');
  expect(reader.match.header.setup.seed).toBeNull();
});
