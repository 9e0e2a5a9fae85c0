import { memo } from "./memo";
import type { BoardProps } from "./painter";
import { type Key, hot } from "./pick";
import { Board as Plain } from "./plain";
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
const SIGNS: Record<string, string> = { BLACKHOLE: "●", HEALTH: "+", EXPERIENCE: "★", BOSS: "☠" };

export const legend = [
  ...Object.entries(LABELS).map(([type, meaning]) => ({
    drawing: sign(type, type === "WORMHOLE" ? "@1" : SIGNS[type]),
    meaning: type === "WORMHOLE" ? `${meaning}, and which pair` : meaning,
  })),
  { drawing: <circle class="attacked" r={RADIUS * 0.8} />, meaning: "attacked by the boss" },
];

/** A tile that is not empty, around the centre. */
function sign(type: string, text: string | undefined) {
  return (
    <>
      <polygon class={`cell ${type.toLowerCase()}`} points={CORNERS} />
      {text && (
        <text class="small" y={4}>
          {text}
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

export function Board(props: BoardProps<Frames>) {
  if (!props.view) return <Plain {...props} />;
  const shown = state(props.view);
  const ships = [shown.player1, shown.player2, shown.player3, shown.player4].filter((ship) => ship !== null);
  const shots = (props.step.line.events ?? []).flatMap((event) => (event.method === "shot" ? [event.params] : []));
  return (
    <svg viewBox={`${-15 * WIDTH} ${-22.5 * RADIUS} ${30 * WIDTH} ${45 * RADIUS}`} class="aibg5">
      {shown.map.tiles.map((row, index) => (
        <Row key={index} row={row} />
      ))}
      {shown.boss.bossAttackedTiles.map(({ q, r }) => {
        const [x, y] = centre(q, r);
        return <circle key={`${q},${r}`} class="attacked" cx={x} cy={y} r={RADIUS * 0.8} />;
      })}
      {ships.map((ship) => {
        const [x, y] = centre(ship.q, ship.r);
        const label = `${ship.name} on ${ship.q},${ship.r}, health ${ship.health}, level ${ship.level}`;
        return (
          <g key={ship.playerIdx} role="img" aria-label={ship.trapped ? `${label}, trapped` : label}>
            <circle class={`piece seat-${ship.playerIdx - 1}`} cx={x} cy={y} r={RADIUS * 0.75} />
            <text class="letter small" x={x} y={y + 4}>
              {ship.playerIdx - 1}
            </text>
          </g>
        );
      })}
      {props.pick &&
        shown.map.tiles.flat().map(({ q, r }) => {
          const [x, y] = centre(q, r);
          const target = hot(props.pick, `${q},${r}`, `tile ${q},${r}`);
          return target && <circle key={`!${q},${r}`} {...target} cx={x} cy={y} r={RADIUS * 0.8} />;
        })}
      {shots.map((shot, index) => (
        <Fire key={index} shot={shot} ships={ships} />
      ))}
    </svg>
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
      {sign(type, type === "WORMHOLE" ? `@${id}` : SIGNS[type])}
    </g>
  );
}

/** The line of fire. */
function Fire({ shot, ships }: { shot: Events["shot"]; ships: Player[] }) {
  const from = ships.find((ship) => ship.playerIdx === shot.playerIdx);
  if (!from) return null;
  const [x1, y1] = centre(from.q, from.r);
  const [x2, y2] = centre(shot.q, shot.r);
  return <line class="shot" x1={x1} y1={y1} x2={x2} y2={y2} />;
}
