import { expect, test } from "vitest";
import { differences } from "../src/difference";
import { type Match, Reader } from "../src/match";
import type { Json } from "../src/patch";
import { excerpt, hits } from "../src/search";

interface Turn {
  answers: Record<string, Json>;
  view: Json;
  events?: Json[];
}

function match(names: string[], turns: Turn[]): Match {
  const reader = new Reader();
  reader.take(JSON.stringify({ ...reader.match.about, names }));
  reader.take(JSON.stringify([[{ view: {}, text: [], awaited: {} }], { opening: [] }]));
  turns.forEach(({ answers, view, events }, index) =>
    reader.take(JSON.stringify([{ view: [view] }, { turn: index + 1, answers, events: events ?? [] }])),
  );
  return reader.match;
}

const first = { answers: { 0: "e4" }, view: { board: "e4", who: "Ada", luck: "a" } };
const second = { answers: { 1: "d5" }, view: { board: "e4 d5", who: "Bert", luck: "b" } };

test("two versions are the same as long as they answer alike, whatever their names and dice", () => {
  const old = match(["Ada", "Bert"], [first, second]);
  const renamed = [first, second].map((turn, index) => ({
    ...turn,
    view: { ...turn.view, who: ["Eve", "Bob"][index]!, luck: "z" },
  }));
  expect(differences(old, match(["Eve", "Bob"], renamed))).toEqual({ answers: undefined, positions: undefined });
});

test("the first other answer, position, fault and length are found", () => {
  const old = match(["Ada", "Bert"], [first, second]);
  const other = { ...second, answers: { 1: "c5" } };
  expect(differences(old, match(["Ada", "Bert"], [first, other])).answers).toBe(2);
  const elsewhere = { ...first, view: { ...first.view, board: "d4" } };
  expect(differences(old, match(["Ada", "Bert"], [elsewhere, second]))).toEqual({ answers: undefined, positions: 1 });
  const fault = { event: "ruling", player: 1, fault: { kind: "timeout", detail: "" } };
  expect(differences(old, match(["Ada", "Bert"], [first, { ...second, events: [fault] }])).answers).toBe(2);
  expect(differences(old, match(["Ada", "Bert"], [first])).answers).toBe(2);
  expect(differences(match(["Ada"], [first]), match(["Ada"], [{ ...first, view: [1] }])).positions).toBe(1);
});

test("a text is found in answers, notices and faults, and nothing is found for no text", () => {
  const notice = { event: "notice", method: "bid", params: { by: "Ada", what: "QUEEN" } };
  const fault = { event: "ruling", player: 1, fault: { kind: "illegal", detail: "no queen there" } };
  const found = match(
    ["Ada", "Bert"],
    [
      { ...first, events: [notice] },
      { ...second, answers: { 1: { take: "queen" } }, events: [fault] },
    ],
  );
  expect(hits(found, "queen").map(({ at, seat, kind }) => [at, seat, kind])).toEqual([
    [1, undefined, "notice"],
    [2, 1, "answer"],
    [2, 1, "fault"],
  ]);
  expect(hits(found, "queen bid").map(({ at }) => at)).toEqual([1]);
  expect(hits(found, "  ")).toEqual([]);
  expect(hits(found, "absent")).toEqual([]);
});

test("a hit shows what is around the text", () => {
  expect(excerpt(`${"a".repeat(100)}queen${"b".repeat(400)}`, "queen", 5)).toBe(
    `…${"a".repeat(5)}queen${"b".repeat(5)}…`,
  );
  expect(excerpt("the queen", "queen")).toBe("the queen");
});
