// The page from the server: the list of replays, or one replay as a stream that lasts while it grows.

import { render } from "preact";
import { listen } from "./keys";
import { type Live, Reader } from "./match";
import { follow, place, token } from "./place";
import { Player } from "./player";
import { ask, isThere } from "./server";
import { App } from "./views/app";
import { Compare, leader } from "./views/compare";
import { List, gone } from "./views/list";
import type { Entry } from "./views/results";
import { visible as readable } from "./views/words";

const LIVE = '{"live":';
const AGAIN_MS = 1000;
const LOST = "The server does not answer. This page keeps trying.";
const NOT_BEGUN = "The match has not started yet: its bots are starting.";

export async function served(root: Element): Promise<void> {
  token();
  const named = place().get("match");
  const other = place().get("with");
  if (named !== null && other !== null) return compare(root, [Number(named), Number(other)]);
  if (named !== null) return watch(root, Number(named));
  const entries = await listed(root);
  if (!entries) return;
  const only = entries.length === 1 ? entries[0] : undefined;
  if (only) return watch(root, only.number);
  render(<List first={entries} />, root);
  addEventListener("hashchange", () => void open());
}

/** Opens the match in the address. */
async function open(): Promise<void> {
  if (await isThere()) return location.reload();
  gone.value = true;
  history.replaceState(null, "", "#");
}

/** Returns the list, and waits for a match that is about to start. */
async function listed(root: Element): Promise<Entry[] | undefined> {
  for (;;) {
    try {
      const answer = await ask("/matches");
      if (!answer.ok) return void told(root, await answer.text());
      const entries = (await answer.json()) as Entry[];
      if (entries.length > 0 || answer.headers.get("x-referee-waits") === null) return entries;
      told(root, NOT_BEGUN);
    } catch {
      told(root, LOST);
    }
    await new Promise((go) => setTimeout(go, AGAIN_MS / 4));
  }
}

/** Shows a sentence instead of a match. */
function told(root: Element, what: string): void {
  render(<p class="told">{what}</p>, root);
}

/** Shows two finished matches side by side. */
async function compare(root: Element, numbers: [left: number, right: number]): Promise<void> {
  told(root, "The two matches are being read. One that is still played is shown once it is over.");
  const players: Player[] = [];
  for (const number of numbers) {
    const reader = new Reader();
    try {
      const answer = await ask(`/matches/${number}`);
      if (!answer.ok) return told(root, await answer.text());
      for (const line of (await answer.text()).split("\n")) if (line && !line.startsWith(LIVE)) reader.take(line);
    } catch {
      return told(root, "The server does not answer. Reload the page to try again.");
    }
    if (reader.match.steps.length === 0) return told(root, reader.match.closing?.verified ?? NOT_BEGUN);
    const player = new Player(reader.match);
    player.grown();
    players.push(player);
  }
  const [left, right] = players as [Player, Player];
  const lead = leader(left, right);
  document.title = "Two matches side by side";
  listen(lead);
  follow(lead, { match: String(numbers[0]), with: String(numbers[1]) });
  render(<Compare lead={lead} sides={[left, right]} />, root);
}

async function watch(root: Element, number: number): Promise<void> {
  let reader = new Reader();
  const player = new Player(reader.match);
  player.tell = (path, what) => void say(player, path, { ...what, match: number });
  let begun = false;
  const grown = () => {
    // A match that is read again replaces the shown one once it is as long.
    if (reader.match.steps.length >= player.count.peek()) player.replace(reader.match);
    if (begun) return;
    if (reader.match.steps.length === 0) {
      if (player.live.value) told(root, NOT_BEGUN);
      return;
    }
    begun = true;
    const { live, eyes } = reader.match.about;
    if (place().get("turn") === null) {
      if (live) player.newest();
      else player.open();
    }
    if (eyes) player.seat.value = eyes[0] ?? null;
    document.title = readable(reader.match.about.title);
    listen(player);
    follow(player, { match: String(number) });
    render(<App player={player} />, root);
  };
  for (;;) {
    await seen();
    try {
      const answer = await ask(`/matches/${number}?from=${reader.taken}`);
      if (answer.status >= 400 && answer.status < 500) return told(root, await answer.text());
      player.lost.value = false;
      await lines(answer, reader, (live) => heard(live, number, player), grown);
    } catch {
      player.lost.value = player.match.closing === undefined;
      if (!begun) told(root, LOST);
    }
    const { closing, about } = reader.match;
    if (closing && about.eyes === null) break;
    if (closing)
      reader = new Reader(); // at the end everything may be seen
    else await new Promise((go) => setTimeout(go, AGAIN_MS));
  }
  if (!begun) told(root, reader.match.closing?.verified ?? "");
}

/** Takes in the state of the running match, and notes the next one of a series. */
function heard(live: Live, number: number, player: Player): void {
  player.heard(live);
  player.elsewhere.value = live.current === null || live.current === number ? null : live.current;
}

/** Sends a choice to the server. The page shows why one is not accepted. */
async function say(player: Player, path: string, what: object): Promise<void> {
  try {
    const answer = await ask(path, { method: "POST", body: JSON.stringify(what) });
    if (!answer.ok) player.refused(`Not accepted: ${await answer.text()}`);
  } catch {
    player.refused("");
    player.lost.value = true;
  }
}

/** Reads a response line by line. A hidden page stops, and continues later. */
async function lines(answer: Response, reader: Reader, told: (live: Live) => void, grown: () => void): Promise<void> {
  const source = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  const hide = () => document.hidden && void source.cancel();
  document.addEventListener("visibilitychange", hide);
  try {
    let rest = "";
    for (;;) {
      const { done, value } = await source.read();
      if (done) return;
      const whole = (rest + value).split("\n");
      rest = whole.pop()!;
      for (const line of whole) {
        if (line.startsWith(LIVE)) told((JSON.parse(line) as { live: Live }).live);
        else reader.take(line);
      }
      grown();
    }
  } finally {
    document.removeEventListener("visibilitychange", hide);
  }
}

/** Waits until the page is visible. A browser opens few streams to one host. */
function seen(): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((go) => document.addEventListener("visibilitychange", () => go(), { once: true }));
}
