import type { Step } from "../match";
import { memo } from "./memo";
import { type Move, type Point, along, beamed, placed, useMotion } from "./motion";
import type { BoardProps } from "./painter";
import { type Key, hot } from "./pick";
import { Board as Plain } from "./plain";
import { Sprites } from "./sprites/aiarena21";
import type { Everything, Frames, Seen } from "./types/aiarena21";

/** What is drawn, all from the view of everything. */
type View = Pick<Everything, "game_map" | "players" | "items" | "heatmap">;

const SIZE = 20;
const FRUIT: Record<string, string> = { O: "onion", S: "strawberry", D: "dragon-fruit" };

export const legend = [
  ...Object.entries(FRUIT).map(([fruit, name]) => ({
    drawing: <g transform="scale(1.4)">{picture(fruit)}</g>,
    meaning: name.replace("-", " "),
  })),
  { drawing: small(<Runner seat={0} bike={false} gun={false} />), meaning: "a player" },
  { drawing: small(<Runner seat={0} bike gun={false} />), meaning: "on a bike" },
  { drawing: small(<Runner seat={0} bike={false} gun />), meaning: "with a portal gun" },
  { drawing: <rect class="block" x={-10} y={-10} width={SIZE} height={SIZE} />, meaning: "blocked" },
  {
    drawing: <rect class="heat" x={-10} y={-10} width={SIZE} height={SIZE} opacity={0.6} />,
    meaning: "fruit will come near",
  },
  {
    drawing: <line class="last seat-0" x1={-12} y1={8} x2={12} y2={-8} />,
    meaning: "from where to where a player went in this turn",
  },
];

/** A player in the size of a legend. */
function small(player: ReturnType<typeof Runner>) {
  return <g transform="translate(-1 2) scale(0.7)">{player}</g>;
}

/** A fruit, or the value of a pile, around the centre. */
function picture(fruit: string) {
  const name = FRUIT[fruit];
  if (name) return <use href={`#${name}`} />;
  return (
    <>
      <circle class="gold" r={7} />
      <text class="tiny" y={2.5}>
        {fruit}
      </text>
    </>
  );
}

function Runner({ seat, bike, gun }: { seat: number; bike: boolean; gun: boolean }) {
  return (
    <g class={`seat-${seat}`}>
      {bike && <use href="#bike" />}
      <use href="#runner" y={bike ? -4 : 0} />
      {gun && <use href="#portal-gun" />}
      <text class="letter number" y={bike ? 3 : 7}>
        {seat}
      </text>
    </g>
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

/** A step in which only a power-up may be bought. */
export function quiet({ line }: Step<Frames>): boolean {
  return Object.values(line.answers ?? {}).length > 0 && Object.values(line.answers!).every((answer) => answer === "");
}

const STEPS = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
] as const;
const BIKE_STEPS = 3;

/** A shortest way round blocked cells, as long as a bike goes; undefined if there is none: through a portal. */
export function way(cells: string[], from: Point, to: Point): Point[] | undefined {
  let ends: Point[][] = [[from]];
  for (let steps = 0; steps <= BIKE_STEPS; steps++) {
    const found = ends.find((way) => String(way.at(-1)) === String(to));
    if (found) return found;
    ends = ends.flatMap((way) =>
      STEPS.map(([down, right]): Point => [way.at(-1)![0] + down, way.at(-1)![1] + right])
        .filter(([row, col]) => (cells[row]?.[col] ?? "#") !== "#")
        .map((cell) => [...way, cell]),
    );
  }
  return undefined;
}

function centre([row, col]: Point): Point {
  return [(col + 0.5) * SIZE, (row + 0.5) * SIZE];
}

/** How the players move: along a way, through a portal, or to where an auction put them. */
function movement(view: View, before: View, { line }: BoardProps<Frames>["step"]): Move[] {
  const moved = (line.events ?? []).find((event) => event.method === "moved");
  return view.players.flatMap(({ location }, seat) => {
    const from = before.players[seat]!.location;
    if (String(from) === String(location)) return [];
    const walked = moved?.method === "moved" ? moved.params.locations[seat]! : from;
    const path = way(view.game_map.cells, from, walked);
    const put = !path || String(walked) !== String(location);
    const points = (path ?? [from]).map(centre);
    return [{ piece: seat, frames: put ? beamed(points, centre(location)) : along(points) }];
  });
}

/** Everything that lies still: the floor, blocked cells with a lower edge, and a grid. */
const Ground = memo(({ cells }: { cells: string[] }) => {
  const [rows, cols] = [cells.length, cells[0]?.length ?? 0];
  const blocked = cells.flatMap((line, row) => [...line].flatMap((cell, col) => (cell === "#" ? [[row, col]] : [])));
  const faces = blocked.filter(([row, col]) => (cells[row! + 1]?.[col!] ?? "#") !== "#");
  const grid = [
    ...Array.from({ length: rows - 1 }, (_, row) => `M0 ${(row + 1) * SIZE}h${cols * SIZE}`),
    ...Array.from({ length: cols - 1 }, (_, col) => `M${(col + 1) * SIZE} 0v${rows * SIZE}`),
  ];
  return (
    <>
      <rect class="floor" width={cols * SIZE} height={rows * SIZE} />
      <path class="grid" d={grid.join("")} />
      {blocked.map(([row, col]) => (
        <rect key={`${row},${col}`} class="block" x={col! * SIZE} y={row! * SIZE} width={SIZE} height={SIZE} />
      ))}
      <path class="bricks" d={blocked.map(([row, col]) => `M${col! * SIZE + 3} ${row! * SIZE + 4}h14`).join("")} />
      <path class="face" d={faces.map(([row, col]) => `M${col! * SIZE} ${row! * SIZE + 14}h20v6h-20z`).join("")} />
    </>
  );
});

const LEVELS = 12;

/** Where fruit will come: one drawing for each level of heat, since most cells change at once. */
const Heat = memo(({ heatmap }: { heatmap: number[][] }) => {
  const most = Math.max(1, ...heatmap.flat());
  const levels: string[][] = Array.from({ length: LEVELS + 1 }, () => []);
  heatmap.forEach((line, row) =>
    line.forEach((heat, col) => {
      const cell = `M${col * SIZE} ${row * SIZE}h${SIZE}v${SIZE}h-${SIZE}z`;
      if (heat > 0.5) levels[Math.ceil(Math.sqrt(heat / most) * LEVELS)]!.push(cell);
    }),
  );
  return (
    <>
      {levels.map((cells, level) => (
        <path key={level} class="heat" d={cells.join("")} data-cells={cells.length} fill-opacity={level / 20} />
      ))}
    </>
  );
});

const Piles = memo(({ items }: { items: string[][] }) => (
  <>
    {items.flatMap((line, row) =>
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
  </>
));

export function Board(props: BoardProps<Frames>) {
  const [view, before] = drawn(props);
  const board = useMotion(props, () => (view && before ? movement(view, before, props.step) : []));
  if (!view) return <Plain {...props} />;
  const { rows, cols, cells } = view.game_map;
  const scale = Math.max(1.1, Math.min(1.8, cols / 34));
  return (
    <svg ref={board} viewBox={`-6 -6 ${cols * SIZE + 12} ${rows * SIZE + 12}`} class="aiarena21">
      <Sprites />
      <rect class="rim" x={-5} y={-5} width={cols * SIZE + 10} height={rows * SIZE + 10} rx={6} />
      <Ground cells={cells} />
      <Heat heatmap={view.heatmap} />
      <Piles items={view.items} />
      {props.pick &&
        cells.flatMap((line, row) =>
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
        const [x, y] = centre(player.location);
        const [fromX, fromY] = centre(before?.players[seat]?.location ?? player.location);
        return <line key={seat} class={`last seat-${seat}`} x1={fromX} y1={fromY} x2={x} y2={y} />;
      })}
      {view.players.map((player, seat) => {
        const [row, col] = player.location;
        const label = `${player.name} on ${row},${col}, ${player.score} points${player.bike ? ", on a bike" : ""}`;
        return (
          <g
            key={seat}
            role="img"
            aria-label={label}
            data-piece={seat}
            style={{ transform: placed(centre([row, col])) }}
          >
            <g transform={`scale(${scale})`}>
              <Runner seat={seat} bike={player.bike} gun={player.portal_gun} />
            </g>
          </g>
        );
      })}
      {props.motion && before ? <Effects key={props.step.line.turn} view={view} before={before} scale={scale} /> : null}
    </svg>
  );
}

/** Points that were won or paid, and portals. */
function Effects({ view, before, scale }: { view: View; before: View; scale: number }) {
  return (
    <g aria-hidden="true">
      {view.players.map(({ location, score }, seat) => {
        const was = before.players[seat]!;
        const by = score - was.score;
        const beams = !way(view.game_map.cells, was.location, location);
        const [x, y] = centre(location);
        return (
          <g key={seat}>
            {beams &&
              [was.location, location].map((cell) => (
                <g key={String(cell)} transform={`translate(${centre(cell).join(" ")}) scale(${scale})`}>
                  <use href="#portal" class="fx flash" />
                </g>
              ))}
            {by !== 0 && (
              <g transform={`translate(${x} ${y - 12 * scale}) scale(${scale * 0.8})`}>
                <text class={`fx rise loud seat-${seat}`}>{by > 0 ? `+${by}` : `−${-by}`}</text>
              </g>
            )}
          </g>
        );
      })}
    </g>
  );
}

/** One item of a pile; without an index, alone and larger. */
function Fruit({ fruit, row, col, index }: { fruit: string; row: number; col: number; index: number | null }) {
  const [dx, dy] = index === null ? [10, 10] : [6 + (index % 2) * 8, 6 + Math.floor(index / 2) * 8];
  const at = `translate(${col * SIZE + dx} ${row * SIZE + dy})${index === null ? " scale(1.2)" : " scale(0.8)"}`;
  return (
    <g role="img" aria-label={`${FRUIT[fruit] ?? fruit} on ${row},${col}`} transform={at}>
      {picture(fruit)}
    </g>
  );
}
