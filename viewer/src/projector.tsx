// The page for a hall: large names and scores, and one match after another without anyone at the keyboard.

import { signal } from "@preact/signals";
import { render } from "preact";
import { Bracket, type Drawing } from "./bracket";
import { painter } from "./games";
import { Reader, look } from "./match";
import { token } from "./place";
import { Player, SPEEDS } from "./player";
import { ask } from "./server";
import type { Entry } from "./views/results";
import { cut, headline, visible } from "./views/words";

/** How long a match may take, how long its result stays, and how often the page looks. */
const MATCH_S = 90;
const HOLD_MS = 8000;
const LOOK_MS = 100;
const NONE = "No finished matches yet. This page starts when there is one.";

const shown = signal<{ player: Player; at: number; entries: Entry[] } | null>(null);
const bracket = signal<Drawing | null>(null);
const told = signal("");
/** The matches to go on by: 1 for the next, -1 for the one before, 0 to stay. */
let skips = 0;

export async function projector(root: Element): Promise<void> {
  document.documentElement.classList.add("projector");
  document.title = "Referee: projector";
  token();
  addEventListener("keydown", keys);
  render(<Hall />, root);
  for (let at = 0; ; at = Math.max(0, at + (skips || 1))) {
    skips = 0;
    const entries = await finished();
    if (entries.length === 0) await wait(HOLD_MS / 4);
    else {
      try {
        await play(entries, (at %= entries.length));
        await showBrackets();
      } catch {
        await wait(HOLD_MS / 4); // the server has ended; `finished` says so
      }
    }
  }
}

/** The finished matches, the oldest first. */
async function finished(): Promise<Entry[]> {
  try {
    const answer = await ask("/matches");
    if (!answer.ok) {
      told.value = await answer.text();
      return [];
    }
    told.value = NONE;
    return ((await answer.json()) as Entry[]).filter(({ live }) => !live).sort((a, b) => a.at - b.at);
  } catch {
    told.value = "The server does not answer. This page keeps trying.";
    return [];
  }
}

/** Plays a match to its end and holds the result, unless someone goes on. */
async function play(entries: Entry[], at: number): Promise<void> {
  const reader = new Reader();
  const answer = await ask(`/matches/${entries[at]!.number}`);
  for (const line of (await answer.text()).split("\n")) if (line) reader.take(line);
  const player = new Player(reader.match);
  player.grown();
  if (player.count.value === 0) return;
  player.speed.value = SPEEDS.find((speed) => player.last / speed <= MATCH_S) ?? SPEEDS.at(-1)!;
  shown.value = { player, at, entries };
  player.toggle();
  for (let since = performance.now(); performance.now() - since < HOLD_MS && skips === 0; await wait(LOOK_MS))
    if (player.at.value < player.last) since = performance.now();
  player.seek(player.last);
}

/** Shows each bracket of the tournament, as far as it was played, unless someone goes on. */
async function showBrackets(): Promise<void> {
  if (skips !== 0) return;
  const answer = await ask("/brackets");
  for (const each of answer.ok ? ((await answer.json()) as Drawing[]) : []) {
    bracket.value = each;
    const until = performance.now() + HOLD_MS; // a browser slows the timers of a page that is hidden
    while (performance.now() < until && skips === 0) await wait(LOOK_MS);
  }
  bracket.value = null;
}

function wait(ms: number): Promise<void> {
  return new Promise((go) => setTimeout(go, ms));
}

function keys({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): void {
  if (ctrlKey || metaKey || altKey) return;
  const player = shown.value?.player;
  if (key === "f") void fullScreen();
  else if (key === " ") player?.toggle();
  else if (key === "+" || key === "=") player?.faster(1);
  else if (key === "-") player?.faster(-1);
  else if (key === "ArrowRight") skips = 1;
  else if (key === "ArrowLeft") skips = -1;
}

function fullScreen(): Promise<void> {
  return document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
}

/** The matches that a player has won among these. */
export function wins(entries: Entry[], name: string): number {
  return entries.filter(({ names, ranks }) => {
    const first = names.filter((_, seat) => ranks?.[seat] === 1);
    return first.length === 1 && first[0] === name;
  }).length;
}

function Hall() {
  if (bracket.value) return <Bracket drawing={bracket.value} />;
  if (!shown.value) return <p class="told">{visible(told.value)}</p>;
  const { player, at, entries } = shown.value;
  const { match } = player;
  const step = player.step.value;
  const over = player.at.value === player.last;
  const { Board } = painter(match.about.game);
  const played = entries.slice(0, over ? at + 1 : at);
  return (
    <main class="hall" data-game={match.about.game}>
      <header>
        <h1>{visible(match.about.title.split(":")[0]!)}</h1>
        <span class="seed">
          match {at + 1} of {entries.length}
        </span>
        <button type="button" class="help" title="key f" onClick={() => void fullScreen()}>
          full screen
        </button>
      </header>
      <Sides player={player} entries={played} />
      <section class="boards" aria-label="board">
        <div class="board">
          <Board key={at} {...look(match, player.at.value, null)} step={step} match={match} motion={player.motion} />
        </div>
      </section>
      <p class={over ? "commentary over" : "commentary"} aria-live="polite">
        {cut(headline(match, player.at.value), 140)}
      </p>
    </main>
  );
}

/** The names and scores of the seats, and the matches that each has won among some. */
export function Sides({ player, entries }: { player: Player; entries?: Entry[] }) {
  const { match } = player;
  const step = player.step.value;
  const { scores, scoreName } = painter(match.about.game);
  const points = scores?.(step.view);
  return (
    <ol class="sides" aria-label="players">
      {match.about.names.map((name, seat) => (
        <li key={seat} class={`seat-${seat} ${seat in step.awaited ? "active" : ""}`}>
          <span class="mark" aria-hidden="true">
            {seat}
          </span>
          <strong>{visible(name)}</strong>
          {entries && <span class="wins">{wins(entries, name)} won</span>}
          {points && (
            <span class="score">
              {scoreName ?? "score"} {points[seat]}
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}
