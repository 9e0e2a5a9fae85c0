import { painter } from "../games";
import { limit } from "../match";
import type { Player } from "../player";
import { Tokens } from "./model";
import { name, placed, spent } from "./words";

/** A line for each seat: name, whether it is asked, score, and the time of its last call. */
export function Seats({ player }: { player: Player }) {
  const { match } = player;
  const step = player.step.value;
  const { scores: scored, scoreName } = painter(match.about.game);
  const scores = step.view === null ? undefined : scored?.(step.view); // people who play see one seat only
  const ending = player.at.value === player.last ? match.ending : undefined;
  const result = ending?.result;
  return (
    <ol class="seats" aria-label="players">
      {match.about.names.map((_, seat) => (
        <li key={seat} class={`seat-${seat}`}>
          <span class="mark" aria-hidden="true">
            {seat}
          </span>
          <strong>{name(match, seat)}</strong>
          {seat in step.awaited && <span class="to-move">to answer {step.awaited[seat]}</span>}
          {result && <span class="rank">{placed(result.ranks, seat)}</span>}
          {scores && (
            <span class="score">
              {scoreName ?? "score"} {scores[seat]}
            </span>
          )}
          {!match.about.original && (
            <span class="time">{spent(step.line.wall_us?.[seat], limit(match, player.at.value, seat))}</span>
          )}
          {ending?.seats?.[seat]?.model && (
            <small>
              <Tokens use={ending.seats[seat].model} />
            </small>
          )}
        </li>
      ))}
    </ol>
  );
}
