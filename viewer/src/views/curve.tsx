import type { Match } from "../match";
import type { Player } from "../player";
import { Chart, type Drawn, chart } from "./charts";
import { visible } from "./words";

const drawings = new WeakMap<Match, Drawn>();

/** Where the match turned: what each seat could expect, turn by turn, and the turns that changed it. */
export function Curve({ player }: { player: Player }) {
  const { match } = player;
  const found = match.closing?.assessment;
  if (!found) return null;
  const steps = stepsOfTurns(match);
  if (!drawings.has(match)) drawings.set(match, drawn(match, steps));
  const moments = found.moments.flatMap(({ turn, words }) => {
    const at = steps.get(turn);
    return at === undefined ? [] : [{ at, words: visible(words) }];
  });
  return (
    <div class="curve">
      <Chart player={player} drawn={drawings.get(match)!} marks={moments} />
      <ol aria-label={`where the match turned, by ${visible(found.by)}`}>
        {moments.map(({ at, words }) => (
          <li key={at}>
            <button type="button" aria-current={player.at.value === at} onClick={() => player.jump(at)}>
              {words}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The steps of turns; the opening is turn 0. */
function stepsOfTurns(match: Match): Map<number, number> {
  return new Map(match.steps.map(({ line }, at) => [line.opening ? 0 : (line.turn ?? -1), at]));
}

function drawn(match: Match, steps: Map<number, number>): Drawn {
  const lines = match.about.names.map(() => new Array<number | undefined>(match.steps.length).fill(undefined));
  for (const { turn, expected } of match.closing!.assessment!.points) {
    const at = steps.get(turn);
    if (at !== undefined) expected.forEach((share, seat) => (lines[seat]![at] = 100 * share));
  }
  return chart("expected score, %", lines);
}
