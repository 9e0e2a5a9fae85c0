// The page of `referee replay video` and `card`: the board with names and scores. The referee gives it the match, turns
// it to each turn, and takes its pictures.

import { render } from "preact";
import { painter } from "./games";
import { type Match, Reader, look } from "./match";
import { Player } from "./player";
import { Sides } from "./projector";
import { cut, headline, outcome, sentence, visible } from "./views/words";

/** What the referee calls. */
interface Film {
  /** Takes lines of the viewer. Returns how many positions there are so far. */
  take: (lines: string) => number;
  /** Shows a position. Returns how long its animation takes, in milliseconds. */
  show: (at: number, first: number, last: number) => Promise<number>;
  /** Shows the card of the match: the position that decided it, or the last one, with the result. */
  card: () => Promise<void>;
  /** Holds all animations at a time after they began, in milliseconds. */
  hold: (ms: number) => void;
}

declare global {
  var refereeFilm: Film | undefined;
}

export function film(root: Element): void {
  const reader = new Reader();
  const player = new Player(reader.match);
  globalThis.refereeFilm = {
    take(lines) {
      for (const line of lines.split("\n")) if (line) reader.take(line);
      player.grown();
      return player.count.value;
    },
    async show(at, first, last) {
      for (const each of document.getAnimations()) if (Number.isFinite(end(each))) each.finish();
      player.at.value = at;
      render(<Picture player={player} first={first} last={last} />, root);
      await new Promise(requestAnimationFrame);
      const animations = document.getAnimations();
      for (const each of animations) each.pause();
      return Math.max(0, ...animations.map(end).filter(Number.isFinite));
    },
    async card() {
      const { at, words } = deciding(player.match);
      player.at.value = at;
      render(<Card player={player} words={words} />, root);
      await new Promise(requestAnimationFrame);
    },
    hold(ms) {
      for (const each of document.getAnimations()) each.currentTime = ms;
    },
  };
}

/** The position after the largest of the moments in which the match turned, or the last one, and a sentence about it. */
export function deciding(match: Match): { at: number; words: string } {
  const { points, moments } = match.closing?.assessment ?? { points: [], moments: [] };
  const expected = new Map(points.map((point) => [point.turn, point.expected]));
  const change = ({ since, turn }: { since: number; turn: number }) =>
    Math.max(
      0,
      ...(expected.get(turn) ?? []).map((share, seat) => Math.abs(share - (expected.get(since)?.[seat] ?? share))),
    );
  const [largest] = [...moments].sort((one, other) => change(other) - change(one));
  const at = largest ? match.steps.findIndex(({ line }) => line.turn === largest.turn) : -1;
  if (at >= 0) return { at, words: visible(largest!.words) };
  const last = match.steps.length - 1;
  const turn = match.steps.findLastIndex(({ line }) => line.turn !== undefined);
  return { at: last, words: sentence(match, Math.max(0, turn)) };
}

/** When an animation ends, in milliseconds after it began; infinite for one that repeats for good. */
function end(animation: Animation): number {
  return Number(animation.effect?.getComputedTiming().endTime ?? 0);
}

function Picture({ player, first, last }: { player: Player; first: number; last: number }) {
  const { match } = player;
  const at = player.at.value;
  const { Board } = painter(match.about.game);
  const part = last > first ? (at - first) / (last - first) : 1;
  return (
    <main class="hall film" data-game={match.about.game}>
      <header>
        <h1>{visible(match.about.title.split(":")[0]!)}</h1>
        <span class="seed">turn {at}</span>
      </header>
      <Sides player={player} />
      <section class="boards" aria-label="board">
        <div class="board">
          <Board {...look(match, at, null)} step={match.steps[at]!} match={match} motion={player.motion} />
        </div>
      </section>
      <p class="commentary">{cut(headline(match, at), 120)}</p>
      <svg class="progress" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <rect width={part} height={1} />
      </svg>
    </main>
  );
}

function Card({ player, words }: { player: Player; words: string }) {
  const { match } = player;
  const at = player.at.value;
  const { Board } = painter(match.about.game);
  return (
    <main class="hall film summary" data-game={match.about.game}>
      <header>
        <h1>{visible(match.about.title.split(":")[0]!)}</h1>
      </header>
      <Sides player={player} />
      <section class="boards" aria-label="board">
        <div class="board">
          <Board {...look(match, at, null)} step={match.steps[at]!} match={match} motion={0} />
        </div>
      </section>
      <div class="words">
        <p class="commentary over">{cut(outcome(match) ?? "The match has no result.", 120)}</p>
        <p class="commentary">{cut(words, 160)}</p>
      </div>
    </main>
  );
}
