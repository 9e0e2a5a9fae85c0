// Keys: each does one thing, and moves as its help says.

import { expect, test } from "vitest";
import { KEYS } from "../src/keys";
import { Reader } from "../src/match";
import { Player } from "../src/player";

const FAULT = { event: "ruling", player: 0, fault: { kind: "illegal", detail: "" }, penalty: "" };
const FAULTS = [3, 20];
const LAST = 30;

/** A player of a match of 30 turns, with faults in two of them. */
function player(): Player {
  const reader = new Reader();
  reader.take(JSON.stringify({ ...reader.match.about, game: "connectfour", names: ["a", "b"] }));
  reader.take(JSON.stringify([[{ view: {}, seats: [{}, {}], awaited: {} }], { opening: [] }]));
  for (let turn = 1; turn <= LAST; turn++)
    reader.take(
      JSON.stringify([{}, { turn, answers: { [turn % 2]: 0 }, events: FAULTS.includes(turn) ? [FAULT] : [] }]),
    );
  const made = new Player(reader.match);
  made.grown();
  return made;
}

function press(shown: Player, key: string, shift = false): number {
  KEYS.find(([keys]) => keys.includes(key))![2](shown, shift);
  return shown.at.value;
}

test("no key does two things, and each has a help text", () => {
  const all = KEYS.flatMap(([keys]) => keys);
  expect(new Set(all).size).toBe(all.length);
  expect(KEYS.filter(([, help]) => help.trim() === "")).toEqual([]);
});

test("the arrows move by one turn, with shift by ten, and stop at the ends", () => {
  const shown = player();
  expect(press(shown, "ArrowLeft")).toBe(0);
  expect(press(shown, "ArrowRight")).toBe(1);
  expect(press(shown, "ArrowRight", true)).toBe(11);
  expect(press(shown, "ArrowLeft", true)).toBe(1);
  expect(press(shown, "End")).toBe(LAST);
  expect(press(shown, "ArrowRight", true)).toBe(LAST);
  expect(press(shown, "Home")).toBe(0);
});

test("f goes from fault to fault and round at the ends, with shift backwards", () => {
  const shown = player();
  expect([press(shown, "f"), press(shown, "f"), press(shown, "f")]).toEqual([3, 20, 3]);
  expect([press(shown, "F", true), press(shown, "F", true)]).toEqual([20, 3]);
});

test("s shows everything, then each seat's view, and n its next call", () => {
  const shown = player();
  const seats = [0, 1, 2].map(() => {
    press(shown, "s");
    return shown.seat.value;
  });
  expect(seats).toEqual([0, 1, null]);
  shown.seat.value = 0;
  expect([press(shown, "n"), press(shown, "n")]).toEqual([2, 4]);
});

test("the space bar plays and pauses, and at the end it starts again", () => {
  const shown = player();
  press(shown, "End");
  expect(press(shown, " ")).toBe(0);
  expect(shown.playing.value).toBe(true);
  press(shown, " ");
  expect(shown.playing.value).toBe(false);
});

test("d shows the board alone or with its details", () => {
  const shown = player();
  shown.open();
  expect([shown.stage.value, shown.opening.value, shown.at.value]).toEqual([true, true, 0]);
  press(shown, "d");
  expect([shown.stage.value, shown.opening.value]).toEqual([false, false]);
  press(shown, "d");
  expect([shown.stage.value, shown.opening.value]).toEqual([true, false]);
});
