// Places: the position in the page's address, and coordinates on boards, also on turned ones.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { targets as tile } from "../src/games/aibg5";
import { corner } from "../src/games/quoridor";
import { home } from "../src/games/reantics";
import { Reader } from "../src/match";
import { follow, link, token } from "../src/place";
import { Player } from "../src/player";

/** A browser's address bar. */
const bar = { hash: "", href: "http://localhost/#old", origin: "http://localhost", protocol: "http:" };
const replaceState = vi.fn((_state: null, _title: string, hash: string) => void (bar.hash = hash));
const pushState = vi.fn();
const kept = new Map<string, string>();

beforeEach(() => {
  replaceState.mockClear();
  pushState.mockClear();
  kept.clear();
  Object.assign(bar, { hash: "", origin: "http://localhost", protocol: "http:" });
  vi.stubGlobal("location", bar);
  vi.stubGlobal("history", { replaceState, pushState });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
  });
});
afterEach(() => vi.unstubAllGlobals());

/** A player of a match of 9 turns between two seats. */
function player(): Player {
  const reader = new Reader();
  reader.take(JSON.stringify({ ...reader.match.about, names: ["a", "b"] }));
  reader.take(JSON.stringify([[{ view: {}, seats: [{}, {}] }], { opening: [] }]));
  for (let turn = 1; turn < 10; turn++) reader.take(JSON.stringify([{}, { turn }]));
  const made = new Player(reader.match);
  made.grown();
  return made;
}

test("the address names match, turn, seat and panel, and a page opened there shows them", () => {
  bar.hash = "#match=3&turn=7&seat=1&panel=calls";
  const shown = player();
  follow(shown, { match: "3" });
  expect([shown.at.value, shown.seat.value, shown.panel.value]).toEqual([7, 1, "calls"]);
  shown.seek(4);
  shown.panel.value = "call";
  expect(bar.hash).toBe("#match=3&turn=4&seat=1");
});

test("an address that names no such turn, seat or panel is not obeyed", () => {
  bar.hash = "#turn=x&seat=2&panel=secret";
  const shown = player();
  follow(shown);
  expect([shown.at.value, shown.seat.value, shown.panel.value]).toEqual([0, null, "call"]);
});

test("while a match plays the address stays", () => {
  const shown = player();
  follow(shown);
  shown.playing.value = true;
  replaceState.mockClear();
  shown.at.value = 3;
  expect(replaceState).not.toHaveBeenCalled();
  shown.playing.value = false;
  expect(bar.hash).toBe("#turn=3");
});

test("a token leaves the address for the storage of the tab", () => {
  bar.hash = "#match=1&token=secret";
  expect(token()).toBe("secret");
  expect(bar.hash).toBe("#match=1");
  expect(token()).toBe("secret");
});

test("a copied link opens the turn, and has the token only where that gives nobody rights", () => {
  kept.set("token", "secret");
  bar.hash = "#match=3&turn=4";
  const shown = player();
  follow(shown, { match: "3" });
  shown.playing.value = true;
  shown.at.value = 6;
  expect(link(shown)).toBe("http://localhost/#match=3&turn=6&token=secret");
  shown.live.value = { current: 3, paused: false, steers: true, choice: null, over: false };
  expect(link(shown)).toBe("http://localhost/#match=3&turn=6");
  shown.live.value = null;
  shown.match.about.eyes = [0];
  expect(link(shown)).toBe("http://localhost/#match=3&turn=6");
});

test("a jump leaves an entry to go back to; a step does not", () => {
  const shown = player();
  follow(shown);
  shown.move(1);
  expect(pushState).not.toHaveBeenCalled();
  shown.jump(7);
  expect(pushState).toHaveBeenCalledTimes(1);
  expect(pushState).toHaveBeenCalledWith(null, "", "#turn=1");
  expect(bar.hash).toBe("#turn=7");
});

test("a frame without an address, as in a notebook, keeps none", () => {
  Object.assign(bar, { origin: "null", protocol: "about:" });
  follow(player());
  expect(replaceState).not.toHaveBeenCalled();
});

test("in seat 1's view ReAntics is turned: its own side is at the top", () => {
  const rows = (seat: number | null) => [0, 3, 4, 5, 6, 9].map((y) => home(y, seat));
  expect(rows(null)).toEqual(["home-0", "home-0", "", "", "home-1", "home-1"]);
  expect(rows(0)).toEqual(rows(null));
  expect(rows(1)).toEqual(["home-1", "home-1", "", "", "home-0", "home-0"]);
});

test("Quoridor's row 1 is at the bottom", () => {
  expect(["a9", "a1", "i9", "e5"].map(corner)).toEqual([
    [0, 0],
    [0, 320],
    [320, 0],
    [160, 160],
  ]);
});

test("an action of AIBG 5 is a click on its tile, with negative coordinates too", () => {
  expect(tile({ action: "attack,-7,3" })).toEqual(["-7,3", "!attack"]);
});

test("the opening frame has no turn in the address, so that it is shown again; the board alone is no panel", () => {
  bar.hash = "#match=3";
  const shown = player();
  shown.open();
  follow(shown, { match: "3" });
  expect(bar.hash).toBe("#match=3&panel=none");
  shown.seek(4);
  expect(bar.hash).toBe("#match=3&turn=4&panel=none");
  const again = player();
  follow(again, { match: "3" });
  expect([again.at.value, again.stage.value]).toEqual([4, true]);
});
