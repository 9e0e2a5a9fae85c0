// Two matches side by side, at the same turn.

import { effect } from "@preact/signals";
import { type Differences, differences } from "../difference";
import { painter } from "../games";
import { look } from "../match";
import type { Player } from "../player";
import { isThere } from "../server";
import { Help } from "./help";
import { Seats } from "./seats";
import { Timeline } from "./timeline";
import { answers, headline, visible } from "./words";

/** The player that moves: of the longer match. The other one follows as far as its match goes. */
export function leader(left: Player, right: Player): Player {
  const [lead, other] = left.last >= right.last ? [left, right] : [right, left];
  effect(() => other.seek(lead.at.value));
  return lead;
}

export function Compare({ lead, sides }: { lead: Player; sides: [left: Player, right: Player] }) {
  const [left, right] = sides.map((player) => player.match) as [Player["match"], Player["match"]];
  const found = differences(left, right);
  const to = left.about.game === right.about.game ? (found.answers ?? found.positions) : undefined;
  return (
    <main class="compare">
      <header>
        <h1>Two matches side by side</h1>
        <a class="to-list" href="#" onClick={(event) => void toList(event)}>
          all matches
        </a>
        <button type="button" class="help" onClick={() => (lead.help.value = true)} aria-label="help: the keys">
          ?
        </button>
      </header>
      <p class="headline" role="status">
        {told(sides, found)}{" "}
        {to !== undefined && (
          <button type="button" disabled={lead.at.value === to} onClick={() => lead.jump(to)}>
            go there
          </button>
        )}
      </p>
      {sides.map((player, side) => (
        <Side key={side} player={player} label={side === 0 ? "left" : "right"} />
      ))}
      <Timeline player={lead} />
      {lead.help.value && <Help player={lead} />}
    </main>
  );
}

/** Goes to the list, if the server answers: the browser would replace this page by an error. */
async function toList(event: MouseEvent): Promise<void> {
  event.preventDefault();
  if (await isThere()) location.hash = "";
}

function Side({ player, label }: { player: Player; label: string }) {
  const { match } = player;
  const at = player.at.value;
  const { Board } = painter(match.about.game);
  return (
    <section class={`one ${label}`} aria-label={`${label}: ${visible(match.about.title)}`} data-game={match.about.game}>
      <h2>
        {visible(match.about.title)} <span class="seed">seed {match.header.setup.seed}</span>
      </h2>
      <Seats player={player} />
      <p>{headline(match, at)}</p>
      <div class="board">
        <Board {...look(match, at, null)} step={match.steps[at]!} match={match} motion={player.motion} />
      </div>
    </section>
  );
}

/** Where the matches first differ, in words. */
export function told(sides: [Player, Player], { answers: at, positions }: Differences): string {
  const [left, right] = sides.map((player) => player.match) as [Player["match"], Player["match"]];
  if (left.about.game !== right.about.game) return "These are matches of two games.";
  if (at === undefined && positions === undefined) return "The two matches are the same, turn by turn.";
  if (at === undefined) return `The answers are the same; the positions differ from turn ${positions}.`;
  const before = positions !== undefined && positions < at ? ` The positions differ from turn ${positions}.` : "";
  const says = ({ steps, about }: Player["match"]) => {
    const step = steps[at];
    if (!step) return `over after turn ${steps.length - 1}`;
    return answers({ ...left, about }, step.line).join("; ") || "no answer";
  };
  return `The answers first differ in turn ${at}. Left: ${says(left)}. Right: ${says(right)}.${before}`;
}
