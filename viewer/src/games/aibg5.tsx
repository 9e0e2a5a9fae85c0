import { memo } from "./memo";
import { type Move, type Point, along, beamed, facing, placed, shake, useMotion } from "./motion";
import type { BoardProps } from "./painter";
import { type Key, hot } from "./pick";
import { Board as Plain } from "./plain";
import { Sprites } from "./sprites/aibg5";
import type { Everything, Events, Frames, Player, Seen, Tile } from "./types/aibg5";

const RADIUS = 12;
const WIDTH = RADIUS * Math.sqrt(3);
const LABELS: Record<string, string> = {
  ASTEROID: "asteroid",
  BLACKHOLE: "black hole",
  WORMHOLE: "wormhole",
  HEALTH: "health",
  EXPERIENCE: "experience",
  BOSS: "boss",
};
const CORNERS = [30, 90, 150, 210, 270, 330]
  .map((angle) => (angle * Math.PI) / 180)
  .map((angle) => `${(RADIUS * Math.cos(angle)).toFixed(1)},${(RADIUS * Math.sin(angle)).toFixed(1)}`)
  .join(" ");
/** Stars in the space around the board. */
const STARS = Array.from(
  { length: 90 },
  (_, at) => `M${((at * 137.5) % 620) - 310} ${((at * 71.3) % 540) - 270}v.1`,
).join("");

export const legend = [
  ...Object.entries(LABELS).map(([type, meaning]) => ({
    drawing: type === "BOSS" ? <use href="#boss" transform="scale(0.35)" /> : sign(type, 1),
    meaning: type === "WORMHOLE" ? `${meaning}, and which pair` : meaning,
  })),
  { drawing: <polygon class="attacked" points={CORNERS} />, meaning: "attacked by the boss" },
];

/** A tile that is not empty, around the centre. */
function sign(type: string, pair: number | undefined) {
  const name = type.toLowerCase();
  return (
    <>
      <polygon class={`cell ${name}`} points={CORNERS} />
      {type !== "BOSS" && <use href={`#${name}`} />}
      {type === "WORMHOLE" && (
        <text class="small" y={4}>
          {pair}
        </text>
      )}
    </>
  );
}

function centre(q: number, r: number): [x: number, y: number] {
  return [WIDTH * (q + r / 2), RADIUS * 1.5 * r];
}

/** The state, which all seats see. It is a member of the view of everything. */
function state(view: Everything | Seen): Seen {
  return "gameState" in view ? view.gameState : view;
}

export function scores(view: Everything): number[] {
  const { players } = state(view).scoreBoard;
  return [...players].sort((a, b) => a.playerIdx - b.playerIdx).map((ship) => ship.score);
}

/** A tile and an action there. */
export function targets(answer: Frames["answer"]): Key[] {
  if (!answer?.action) return ["!go on"];
  const [word, q, r] = answer.action.split(",");
  return [`${q},${r}`, `!${word}`];
}

function shipsOf(state: Seen): Player[] {
  return [state.player1, state.player2, state.player3, state.player4].filter((ship) => ship !== null);
}

/** The farthest that a ship flies; what is farther goes through a wormhole or starts again. */
const FLIGHT = 1.5 * WIDTH;

/** How ships fly, and shake where they are hit. */
function movement(state: Seen, before: Seen): Move[] {
  return shipsOf(state).flatMap((ship): Move[] => {
    const was = shipsOf(before).find(({ playerIdx }) => playerIdx === ship.playerIdx);
    if (!was) return [];
    const way: Point[] = [centre(was.q, was.r), centre(ship.q, ship.r)];
    const far = Math.hypot(way[1]![0] - way[0]![0], way[1]![1] - way[0]![1]);
    const piece = ship.playerIdx;
    if (far > FLIGHT) return [{ piece, frames: beamed([way[0]!], way[1]!) }];
    if (far > 0) return [{ piece, frames: along(way), body: facing(way, 0) }];
    return ship.health < was.health ? [{ piece, frames: shake(way[1]!), begins: 0.4 }] : [];
  });
}

export function Board(props: BoardProps<Frames>) {
  const { view, before, motion } = props;
  const board = useMotion(props, () => (view && before ? movement(state(view), state(before)) : []));
  if (!view) return <Plain {...props} />;
  const shown = state(view);
  const ships = shipsOf(shown);
  const shots = (props.step.line.events ?? []).flatMap((event) => (event.method === "shot" ? [event.params] : []));
  return (
    <svg ref={board} viewBox={`${-15 * WIDTH} ${-22.5 * RADIUS} ${30 * WIDTH} ${45 * RADIUS}`} class="aibg5">
      <Sprites />
      <path class="stars" d={STARS} />
      {shown.map.tiles.map((row, index) => (
        <Row key={index} row={row} />
      ))}
      <use href="#boss" class={motion && shown.boss.bossAttackedTiles.length > 0 ? "angry" : ""} />
      {shown.boss.bossAttackedTiles.map(({ q, r }) => {
        const [x, y] = centre(q, r);
        return <polygon key={`${q},${r}`} class="attacked" points={CORNERS} transform={`translate(${x} ${y})`} />;
      })}
      {shots.map((shot, index) => (
        <Fire key={index} shot={shot} ships={ships} />
      ))}
      {ships.map((ship) => {
        const label = `${ship.name} on ${ship.q},${ship.r}, health ${ship.health}, level ${ship.level}`;
        return (
          <g
            key={ship.playerIdx}
            role="img"
            aria-label={ship.trapped ? `${label}, trapped` : label}
            class={`seat-${ship.playerIdx - 1}`}
            data-piece={ship.playerIdx}
            style={{ transform: placed(centre(ship.q, ship.r)) }}
          >
            <g transform="scale(1.3)">
              <circle class="field" r={RADIUS} />
              <g class="body">
                <use href="#ship" />
              </g>
              <text class="letter small" y={4}>
                {ship.playerIdx - 1}
              </text>
            </g>
          </g>
        );
      })}
      {props.pick &&
        shown.map.tiles.flat().map(({ q, r }) => {
          const [x, y] = centre(q, r);
          const target = hot(props.pick, `${q},${r}`, `tile ${q},${r}`);
          return target && <circle key={`!${q},${r}`} {...target} cx={x} cy={y} r={RADIUS * 0.8} />;
        })}
      {motion && before ? <Effects key={props.step.line.turn} ships={ships} before={shipsOf(state(before))} /> : null}
    </svg>
  );
}

/** Health that was lost or won. */
function Effects({ ships, before }: { ships: Player[]; before: Player[] }) {
  return (
    <g aria-hidden="true">
      {ships.map(({ playerIdx, health, q, r }) => {
        const by = health - (before.find((was) => was.playerIdx === playerIdx)?.health ?? health);
        const [x, y] = centre(q, r);
        return (
          by !== 0 && (
            <g key={playerIdx} transform={`translate(${x} ${y - 14})`}>
              <text class="fx rise loud">{by > 0 ? `+${by}` : `−${-by}`}</text>
            </g>
          )
        );
      })}
    </g>
  );
}

/** A row of tiles, drawn again only when one of them has changed. */
const Row = memo(({ row }: { row: Tile[] }) => <g>{row.map(hexagon)}</g>);

/** Not a component: there are hundreds, and the first board waits for all of them. */
function hexagon(tile: Tile) {
  const [x, y] = centre(tile.q, tile.r);
  const { type, health, id } = tile.entity;
  const at = { key: tile.q, transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})` };
  if (type === "EMPTY") return <polygon {...at} class="cell empty" points={CORNERS} />;
  return (
    <g
      {...at}
      role="img"
      aria-label={`${LABELS[type]} on ${tile.q},${tile.r}${health === undefined ? "" : `, health ${health}`}`}
    >
      {sign(type, id)}
    </g>
  );
}

/** The line of fire. */
function Fire({ shot, ships }: { shot: Events["shot"]; ships: Player[] }) {
  const from = ships.find((ship) => ship.playerIdx === shot.playerIdx);
  if (!from) return null;
  const [x1, y1] = centre(from.q, from.r);
  const [x2, y2] = centre(shot.q, shot.r);
  return (
    <>
      <line class="beamlight" x1={x1} y1={y1} x2={x2} y2={y2} />
      <line class="shot" x1={x1} y1={y1} x2={x2} y2={y2} />
      <circle class="burst" cx={x2} cy={y2} r={8} />
    </>
  );
}
