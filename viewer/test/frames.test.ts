// Frames: how the lines from the referee become the positions of a match.

import { expect, test } from "vitest";
import { Reader, limit, said, sent, wrongs } from "../src/match";
import type { Json } from "../src/patch";

const CLOCK = { call_ms: 100, remaining_ms: null, last_ms: null };
const ASKED = { "1": { params: { state: null, seconds: 2 }, same: ["state"], clock: CLOCK, limit_s: 0.1 } };
const OPENING = {
  view: { board: null, stock: [3, 4] },
  shared: ["board"],
  seats: ["..", 0],
  text: [],
  marks: {},
  awaited: { "1": "play" },
  asked: ASKED,
};
const RULING = { event: "ruling", player: 1, fault: { kind: "illegal", detail: "taken" }, penalty: "it loses" };

/** Reads lines given as values. */
function read(...lines: Json[]) {
  const reader = new Reader();
  for (const line of lines) reader.take(JSON.stringify(line));
  return reader.match;
}

/** A match of one turn, in which seat 1 answers. */
const MATCH: Json[] = [
  [{}, { replay: 1, setup: { seed: 7, options: null }, time: { per_call_s: 1 } }],
  [[OPENING], { opening: [] }],
  [
    { seats: { "0": ["x."] }, awaited: { "1": "-" } },
    { turn: 1, answers: { "1": "a" }, stderr: { "1": 2 } },
  ],
];

test("a seat that sees the same as an earlier one gets its view", () => {
  expect(read(...MATCH).steps[0]!.seats).toEqual(["..", ".."]);
});

test("what seat 0 sees too is put back into the view of everything", () => {
  const { steps } = read(...MATCH);
  expect(steps[0]!.view).toEqual({ board: "..", stock: [3, 4] });
  expect(steps[1]!.view).toEqual({ board: "x.", stock: [3, 4] });
});

test("a frame changes only what its patch names, and earlier positions stay", () => {
  const { steps } = read(...MATCH);
  expect(steps[1]!.awaited).toEqual({});
  expect(steps[0]!.awaited).toEqual({ "1": "play" });
  expect(steps[1]!.asked).toBe(steps[0]!.asked);
});

test("the header, the ending and the closing lead to no position", () => {
  const ending = { headline: "a wins: b crashed", why: "b crashed", result: { ranks: [1, 2], scores: [1, 0] } };
  const match = read(...MATCH, [{}, ending], { verified: "identical", stderr: { "1": "ab\u00c3\u00a9" } });
  expect(match.steps).toHaveLength(2);
  expect(match.ending).toMatchObject({ headline: "a wins: b crashed", reports: [] });
  expect(match.closing?.verified).toBe("identical");
  expect(said(match, 1, 1)).toBe("é"); // its bytes from the call on, as UTF-8
});

test("the call of a step is what the position before it asked", () => {
  const match = read(...MATCH);
  const params = { state: "..", seconds: 2, clock: CLOCK };
  expect(JSON.parse(sent(match, 1, 1)!)).toEqual({ jsonrpc: "2.0", id: "…", method: "play", params });
  expect(sent(match, 0, 1)).toBeUndefined();
  expect(limit(match, 1, 1)).toBe(0.1);
  expect(limit(match, 1, 0)).toBeNull();
});

test("a fault after the last turn belongs to the last position", () => {
  const report = { player: 0, turn: 1, kind: "crash", detail: "exit code 1", penalty: "none", method: "exit" };
  const ruled = [{}, { turn: 1, answers: { "1": "a" }, events: [RULING] }];
  const match = read(MATCH[0]!, MATCH[1]!, ruled, [{}, { result: null, faults: [report] }]);
  expect(wrongs(match, 0)).toEqual([]);
  expect(wrongs(match, 1).map(({ player, when }) => [player, when])).toEqual([
    [1, "turn"],
    [0, "end"],
  ]);
});
