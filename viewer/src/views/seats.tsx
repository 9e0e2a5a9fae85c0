import { painter } from "../games";
import type { Player } from "../player";
import { milliseconds, name, visible } from "./words";

/** A line for each seat: name, whether it is asked, score, and the time of its last call. */
export function Seats({ player }: { player: Player }) {
  const { match } = player;
  const step = player.step.value;
  const { scores: scored, scoreName } = painter(match.about.game);
  const scores = step.view === null ? undefined : scored?.(step.view); // people who play see one seat only
  const { result, why } = (player.at.value === player.last && match.ending) || {};
  const limit = match.header.time.per_call_s;
  return (
    <ol class="seats" aria-label="players">
      {match.about.names.map((_, seat) => (
        <li key={seat} class={`seat-${seat}`}>
          <span class="mark" aria-hidden="true">
            {seat}
          </span>
          <strong>{name(match, seat)}</strong>
          {seat in step.awaited && <span class="to-move">to answer {step.awaited[seat]}</span>}
          {result && <span class="rank">{result.ranks[seat] === 1 ? "wins" : `rank ${result.ranks[seat]}`}</span>}
          {scores && (
            <span class="score">
              {scoreName ?? "score"} {scores[seat]}
            </span>
          )}
          {!match.about.original && (
            <span class="time">
              {milliseconds(step.line.wall_us?.[seat])}
              {limit !== null && step.line.wall_us?.[seat] !== undefined && ` of ${limit} s`}
            </span>
          )}
        </li>
      ))}
      {why && <li class="reason">{visible(why)}</li>}
    </ol>
  );
}
