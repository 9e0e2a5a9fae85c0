import type { BoardProps } from "./painter";
import { type Key, hot } from "./pick";
import { Board as Plain } from "./plain";
import type { Everything, Frames, Seen } from "./types/aiarena21";

/** What is drawn, all from the view of everything. */
type View = Pick<Everything, "game_map" | "players" | "items" | "heatmap">;

const SIZE = 20;
const FRUIT: Record<string, string> = { O: "onion", S: "strawberry", D: "dragon-fruit" };

/** Shapes differ too: on a narrow screen the letters are too small. */
const FORMS: Record<string, string> = {
  O: "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0z",
  S: "M-6.5-5h13l-6.5 12z",
  D: "M0-7.5l7 7.5-7 7.5-7-7.5z",
};

export const legend = [
  ...Object.entries(FRUIT).map(([fruit, name]) => ({
    drawing: <g transform="scale(1.6)">{picture(fruit)}</g>,
    meaning: name.replace("-", " "),
  })),
  { drawing: <rect class="block" x={-10} y={-10} width={SIZE} height={SIZE} />, meaning: "blocked" },
  {
    drawing: <rect class="heat" x={-10} y={-10} width={SIZE} height={SIZE} opacity={0.6} />,
    meaning: "fruit will come near",
  },
  {
    drawing: <line class="last" x1={-12} y1={8} x2={12} y2={-8} />,
    meaning: "from where to where a player went in this turn",
  },
];

/** A fruit, or the value of a pile, around the centre. */
function picture(fruit: string) {
  return (
    <>
      <path class={FRUIT[fruit] ?? "fruit"} d={FORMS[fruit] ?? FORMS.O} />
      <text class="tiny" y={fruit === "S" ? 1.5 : 2.5}>
        {fruit}
      </text>
    </>
  );
}

export function scores(view: Everything): number[] {
  return view.players.map((player) => player.score);
}

/** The turn, in which each player is asked several times. */
export function round(view: Everything): number {
  return view.turn;
}

/** A cell, or a thing to buy. */
export function targets(answer: Frames["answer"], _view: Seen, method: string): Key[] {
  return [method === "play_powerup" ? `!${answer === "" ? "buy nothing" : `buy a ${answer}`}` : String(answer)];
}

/** Brings a seat's view into the form of the view of everything. */
function shown({ game_map, me, opponent, items, heatmap }: Seen, seat: number): View {
  const worth = items.map((line) => line.map((points) => (points ? String(points) : "")));
  return { game_map, players: seat === 0 ? [me, opponent] : [opponent, me], items: worth, heatmap };
}

/** What is drawn now and one step earlier. */
function drawn(look: BoardProps<Frames>): [View | null, View | null] {
  if (look.seat === null) return [look.view, look.before];
  return [look.view && shown(look.view, look.seat), look.before && shown(look.before, look.seat)];
}

export function Board(props: BoardProps<Frames>) {
  const [view, before] = drawn(props);
  if (!view) return <Plain {...props} />;
  const { rows, cols, cells } = view.game_map;
  const most = Math.max(1, ...view.heatmap.flat());
  return (
    <svg viewBox={`-2 -2 ${cols * SIZE + 4} ${rows * SIZE + 4}`} class="aiarena21">
      {cells.flatMap((line, row) =>
        [...line].map((cell, col) => (
          <rect
            key={`${row},${col}`}
            class={cell === "#" ? "block" : "cell"}
            x={col * SIZE}
            y={row * SIZE}
            width={SIZE}
            height={SIZE}
          />
        )),
      )}
      {view.heatmap.flatMap((line, row) =>
        line.map(
          (heat, col) =>
            heat > 0.5 && (
              <rect
                key={`${row},${col}`}
                class="heat"
                x={col * SIZE}
                y={row * SIZE}
                width={SIZE}
                height={SIZE}
                opacity={Math.sqrt(heat / most) * 0.6}
              />
            ),
        ),
      )}
      {view.items.flatMap((line, row) =>
        line.map((pile, col) =>
          (FRUIT[pile[0] ?? ""] ? [...pile] : pile ? [pile] : []).map((fruit, index, all) => (
            <Fruit
              key={`${row},${col},${index}`}
              fruit={fruit}
              row={row}
              col={col}
              index={all.length > 1 ? index : null}
            />
          )),
        ),
      )}
      {cells.flatMap((line, row) =>
        [...line].map((_, col) => {
          const target = hot(props.pick, `${row},${col}`, `cell ${row},${col}`);
          return (
            target && (
              <rect
                key={`!${row},${col}`}
                {...target}
                x={col * SIZE + 1}
                y={row * SIZE + 1}
                width={SIZE - 2}
                height={SIZE - 2}
              />
            )
          );
        }),
      )}
      {view.players.map((player, seat) => {
        const [row, col] = player.location;
        const label = `${player.name} on ${row},${col}, ${player.score} points${player.bike ? ", on a bike" : ""}`;
        const [fromRow, fromCol] = before?.players[seat]?.location ?? player.location;
        const way = [fromCol, fromRow, col, row].map((at) => (at + 0.5) * SIZE);
        return (
          <g key={seat} role="img" aria-label={label}>
            <line class="last" x1={way[0]} y1={way[1]} x2={way[2]} y2={way[3]} />
            <circle
              class={`piece seat-${seat}`}
              cx={(col + 0.5) * SIZE}
              cy={(row + 0.5) * SIZE}
              r={SIZE * (player.bike ? 0.95 : 0.78)}
            />
            <text class="letter large" x={(col + 0.5) * SIZE} y={(row + 0.5) * SIZE + 8}>
              {seat}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** One item of a pile; without an index, alone and larger. */
function Fruit({ fruit, row, col, index }: { fruit: string; row: number; col: number; index: number | null }) {
  const [dx, dy] = index === null ? [10, 10] : [6 + (index % 2) * 8, 6 + Math.floor(index / 2) * 8];
  const at = `translate(${col * SIZE + dx} ${row * SIZE + dy})${index === null ? " scale(1.4)" : ""}`;
  return (
    <g role="img" aria-label={`${FRUIT[fruit] ?? fruit} on ${row},${col}`} transform={at}>
      {picture(fruit)}
    </g>
  );
}
