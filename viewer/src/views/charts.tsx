import { type ReadonlySignal, computed } from "@preact/signals";
import { painter } from "../games";
import type { Step } from "../match";
import type { Player } from "../player";

const WIDTH = 600;
const HEIGHT = 60;
/** A click so many pixels beside a mark means the mark. */
const NEAR = 6;
/** The width of a single value. */
const LONE = 12;

export interface Drawn {
  title: string;
  /** The range of the values, in words. */
  reach: string;
  last: number;
  paths: string[];
}

const drawings = new WeakMap<Player, ReadonlySignal<Drawn[]>>();

/** The charts of a match, made again only when it has grown. */
function drawingsOf(player: Player): Drawn[] {
  let found = drawings.get(player);
  if (!found) {
    found = computed(() => {
      const { match } = player;
      const { steps } = match;
      const { scores, scoreName } = painter(match.about.game);
      const seats = [...match.about.names.keys()];
      const charts = match.about.original
        ? []
        : [
            chart(
              "time a call, ms",
              seats.map((seat) => times(steps, seat)),
            ),
          ];
      if (scores && match.about.eyes === null) {
        const all = steps.map((step) => scores(step.view));
        charts.push(
          chart(
            scoreName ?? "score",
            seats.map((seat) => all.map((each) => each?.[seat])),
          ),
        );
      }
      return charts;
    });
    drawings.set(player, found);
  }
  return found.value;
}

/** Time per call and score, turn by turn. A click seeks. */
export function Charts({ player }: { player: Player }) {
  return (
    <section class="charts" aria-label="charts">
      {drawingsOf(player).map((drawn) => (
        <Chart key={drawn.title} player={player} drawn={drawn} />
      ))}
    </section>
  );
}

function times(steps: Step[], seat: number): (number | undefined)[] {
  return steps.map((step) => {
    const us = step.line.wall_us?.[seat];
    return us === undefined ? undefined : us / 1000;
  });
}

export function chart(title: string, lines: (number | undefined)[][]): Drawn {
  const last = Math.max(1, lines[0]!.length - 1);
  let [low, top] = [Infinity, -Infinity];
  for (const line of lines)
    for (const value of line) {
      if (value === undefined) continue;
      low = Math.min(low, value);
      top = Math.max(top, value);
    }
  const [base, room] = [Math.min(0, low), Math.max(top, 0) - Math.min(0, low)];
  const height = (value: number) => HEIGHT - 1 - ((value - base) / Math.max(room, 1e-9)) * (HEIGHT - 2);
  return { title, reach: reach(low, top), last, paths: lines.map((line) => path(line, last, height)) };
}

function reach(low: number, top: number): string {
  if (low > top) return "no value";
  const words = (value: number) =>
    Math.abs(value) >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(2);
  if (low === top) return `always ${words(top)}`;
  return low < 0 ? `${words(low)} to ${words(top)}` : `up to ${words(top)}`;
}

/** A line through the values, which keeps the extremes of each column of pixels. */
function path(line: (number | undefined)[], last: number, height: (value: number) => number): string {
  let drawn = "";
  let count = 0;
  let column = -1;
  let low = Infinity;
  let high = -Infinity;
  const put = (at: number, value: number) => {
    count += 1;
    drawn += `${drawn ? "L" : "M"}${((at / last) * WIDTH).toFixed(1)} ${height(value).toFixed(1)}`;
  };
  const flush = (at: number) => {
    if (high === -Infinity) return;
    put(at, low);
    if (high !== low) put(at, high);
    low = Infinity;
    high = -Infinity;
  };
  line.forEach((value, at) => {
    if (value === undefined) return;
    const pixel = Math.floor((at / last) * WIDTH);
    if (last > WIDTH && pixel === column) {
      low = Math.min(low, value);
      high = Math.max(high, value);
      return;
    }
    flush(at - 1);
    column = pixel;
    if (last > WIDTH) [low, high] = [value, value];
    else put(at, value);
  });
  flush(line.length - 1);
  if (count === 1)
    return drawn.replace(/^M(\S+)/, (_, x: string) => `M${Math.min(WIDTH - LONE, Number(x))}`) + `h${LONE}`; // a point draws nothing
  return drawn;
}

/** A place on a chart that one can go to. */
interface Mark {
  at: number;
  words: string;
}

export function Chart({ player, drawn, marks = [] }: { player: Player; drawn: Drawn; marks?: Mark[] }) {
  const { title, reach, last, paths } = drawn;
  const x = (player.at.value / last) * WIDTH;
  return (
    <figure>
      <figcaption>
        {title} <small>{reach}</small>
        {paths.map((_, seat) => (
          <small key={seat}>
            {" "}
            <svg viewBox="0 0 36 8" aria-hidden="true">
              <path class={`line seat-${seat}`} d="M0 4h36" />
            </svg>{" "}
            {seat}
          </small>
        ))}
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}, turn by turn`}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const at = ((event.clientX - box.left) / box.width) * last;
          const near = marks.find((mark) => (Math.abs(mark.at - at) / last) * box.width <= NEAR);
          player.seek(near?.at ?? at);
        }}
      >
        {paths.map((path, seat) => (
          <path key={seat} class={`line seat-${seat}`} d={path} vector-effect="non-scaling-stroke" />
        ))}
        {marks.map(({ at, words }) => (
          <line key={at} class="moment" x1={(at / last) * WIDTH} x2={(at / last) * WIDTH} y1={0} y2={HEIGHT}>
            <title>{words}</title>
          </line>
        ))}
        <line class="now" x1={x} x2={x} y1={0} y2={HEIGHT} />
      </svg>
    </figure>
  );
}
