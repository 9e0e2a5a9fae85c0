import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Json, patched } from "../src/patch";

interface Vector {
  name: string;
  before: Json;
  patch: Json;
  after: Json;
}

const vectors = JSON.parse(readFileSync("../protocol/vectors/frames.json", "utf-8")) as Vector[];

test.each(vectors)("$name", ({ before, patch, after }) => {
  const kept = structuredClone(before);
  expect(patched(before, patch)).toEqual(after);
  expect(before).toEqual(kept);
});

test("what a patch leaves alone is shared", () => {
  const before = { a: { b: 1 }, c: { d: 2 } };
  const after = patched(before, { c: { d: [3] } }) as typeof before;
  expect(after.a).toBe(before.a);
});
