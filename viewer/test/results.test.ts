import { expect, test } from "vitest";
import { type Entry, folded, result, tally } from "../src/views/results";

const entry = (more: Partial<Entry>): Entry => ({
  number: 0,
  title: "",
  game: "g",
  names: ["Ada", "Bert"],
  at: 0,
  ...more,
});

test("a result says who beat whom, with the scores where they say more than that, and why", () => {
  const why = { ranks: [1, 2], reason: "Bert's queen was killed" };
  expect(result(entry(why))).toBe("Ada beat Bert: Bert's queen was killed");
  expect(result(entry({ ...why, scores: [1, 0] }))).toBe("Ada beat Bert: Bert's queen was killed");
  expect(result(entry({ ...why, ranks: [2, 1], scores: [1, 3], reason: "by capture" }))).toBe(
    "Bert beat Ada 3 : 1: by capture",
  );
  expect(result(entry({ ranks: [1, 2], scores: [9, 4], reason: "9 to 4 points" }))).toBe(
    "Ada beat Bert: 9 to 4 points",
  );
  expect(result(entry({ ranks: [1, 1], reason: "the board is full" }))).toBe("Ada and Bert drew: the board is full");
  expect(result(entry({ names: ["a", "b", "c"], ranks: [1, 3, 1], scores: [7, 2, 7], reason: "x" }))).toBe(
    "a and c beat b 7 : 7 : 2: x",
  );
  expect(result(entry({ names: ["a", "a"], ranks: [2, 1], reason: "x" }))).toBe("a (seat 1) beat a (seat 0): x");
  expect(result(entry({ reason: "aborted" }))).toBe("aborted");
  expect(result(entry({}))).toBe("no end");
  expect(result(entry({ names: ["a\u202e", "b"], ranks: [1, 2], reason: "\u001b" }))).toBe("a\\u202e beat b: \\u001b");
});

test("a series is one line, whoever sits where", () => {
  const one = entry({ number: 1, series: "s", ranks: [1, 2] });
  const two = entry({ number: 2, series: "s", names: ["Bert", "Ada"], ranks: [1, 2] });
  const single = entry({ number: 3 });
  const others = entry({ number: 4, series: "s", names: ["Ada", "Cid"], ranks: [1, 1] });
  const alone = entry({ number: 5, series: "t" });
  expect(folded([one, single, two, others, alone]).map(({ matches }) => matches.map(({ number }) => number))).toEqual([
    [1, 2],
    [3],
    [4],
    [5],
  ]);
  expect(folded([single, alone]).map(({ series }) => series)).toEqual(["", ""]);
});

test("a series' result counts wins by name, and says what it does not count", () => {
  const won = entry({ ranks: [1, 2] });
  const lost = entry({ names: ["Bert", "Ada"], ranks: [1, 2] });
  expect(tally([won, won, won, lost])).toBe("Ada beat Bert 3 : 1");
  expect(tally([won, lost])).toBe("Ada and Bert are level 1 : 1");
  expect(tally([lost, entry({ ranks: [1, 1] }), entry({})])).toBe("Bert beat Ada 1 : 0, 1 drawn, 1 without a result");
  expect(tally([lost, entry({ live: true })])).toBe("Bert leads Ada 1 : 0, 1 without a result");
});
