import { useState } from "preact/hooks";
import type { BoardProps, Sign } from "./painter";
import type { Json } from "../patch";
import { type Key, hot } from "./pick";
import { Board as Plain } from "./plain";
import type { Ant, Construction, Everything, Frames as Generated, Inventory, Seen } from "./types/reantics";

/** The marks say where each ant can go, by its id. */
type Frames = Generated & { marks: { reach?: Record<string, [number, number][]> } };

const SIZE = 48;
const ANTS = ["queen", "worker", "drone", "soldier", "ranged soldier"];
const LETTERS = "QWDSR";
const [ANTHILL, TUNNEL, GRASS, FOOD] = [-4, -3, -2, -1];
const CONSTRUCTIONS: Record<number, string> = {
  [ANTHILL]: "anthill",
  [TUNNEL]: "tunnel",
  [GRASS]: "grass",
  [FOOD]: "food",
};
const [BUILD, END] = [1, 2];

export const scoreName = "food";

/** What each seat owns, then what nobody owns. */
function sides(view: Everything): Inventory[] {
  return view.inventories.slice(0, 2);
}

export function scores(view: Everything): number[] {
  return sides(view).map((inventory) => inventory.foodCount);
}

/** A round is a turn of each player. */
export function round(view: Everything): number {
  return Math.floor(view.ends / 2);
}

/** Buildings that lost capture health or changed owner. */
export function captured(view: Everything, before: Everything): string[] {
  const now = new Map(sides(view).flatMap((side) => side.constrs.map((each) => [String(each.coords), each])));
  return sides(before)
    .flatMap((side) => side.constrs)
    .flatMap((was) => {
      const is = now.get(String(was.coords));
      if (was.captureHealth === undefined || is?.captureHealth === undefined) return [];
      const what = `${CONSTRUCTIONS[was.type]} of seat ${was.player}`;
      if (is.player !== was.player) return [`${what} captured`];
      return is.captureHealth < was.captureHealth ? [`${what}: ${is.captureHealth} to capture`] : [];
    });
}

/** An ant and its destination; the anthill and what to build; or a tile. */
export function targets(answer: Frames["answer"]): Key[] {
  if (answer === null) return [];
  if (Array.isArray(answer)) return typeof answer[0] === "number" ? [answer.join(",")] : answer.map(String);
  const { moveType, coordList, buildType } = answer;
  if (moveType === END) return ["!end the turn"];
  if (moveType === BUILD) return [String(coordList![0]), `!build a ${ANTS[buildType!]}`];
  return [String(coordList![0]), String(coordList!.at(-1))];
}

/** One piece at a time: answers shorter than the document's are legal, and the engine asks for the rest. */
export function tried(key: Key): Json {
  return [key.split(",").map(Number)];
}

const GRASS_PIECES = 9;

/** The two pieces of food are a pair without an order. */
export function unordered(method: string): boolean {
  return method === "getPlacement";
}

/** The piece that the next click sets. */
export function sets(view: Seen, method: string): string | undefined {
  if (method !== "getPlacement") return undefined;
  const { phase, whoseTurn, inventories } = view;
  if (phase !== 1) return "Click the two tiles for your food on your rival's side, in any order.";
  const own = inventories[whoseTurn]!.constrs.map(({ type }) => type);
  if (!own.includes(ANTHILL!)) return "Click the tile for your anthill, or let Referee place everything.";
  if (!own.includes(TUNNEL!)) return "Click the tile for your tunnel, or let Referee place the rest.";
  const grass = inventories[2].constrs.filter(({ type, coords }) => type === GRASS && coords[1] < 4).length;
  return `Click the tile for grass ${grass + 1} of ${GRASS_PIECES}, or let Referee place the rest.`;
}

/** The seat's own side for anthill, tunnel and grass; the enemy's side for food. */
export function places({ phase, inventories }: Seen): Key[] {
  const taken = new Set(inventories.flatMap((inventory) => inventory.constrs.map(({ coords }) => String(coords))));
  const side = Array.from({ length: 40 }, (_, at) => `${at % 10},${Math.floor(at / 10) + (phase === 1 ? 0 : 6)}`);
  return side.filter((tile) => !taken.has(tile));
}

export function measures(view: Everything): Record<string, (number | undefined)[]> {
  const each = (measure: (side: Inventory) => number | undefined) => sides(view).map(measure);
  const ants = (type: number) => each((side) => side.ants.filter((ant) => ant.type === type).length);
  return {
    food: scores(view),
    ants: each((side) => side.ants.length),
    workers: ants(1),
    drones: ants(2),
    soldiers: ants(3),
    "ranged soldiers": ants(4),
    "health of the queen": each((side) => side.ants.find((ant) => ant.type === 0)?.health),
    "health of the anthill": each((side) => side.constrs.find(({ type }) => type === ANTHILL)?.captureHealth),
  };
}

/** The tiles from and to which an ant went in this step, or on which it was built. The answers of seat 1 name those of
 * a board that is turned around, so what is shown is compared. */
function moves(view: Seen | Everything, before: Seen | Everything | null): Set<Key> {
  const were = new Map(
    before?.inventories.flatMap(({ ants }) => ants.map((ant) => [ant.id, String(ant.coords)])) ?? [],
  );
  if (were.size === 0) return new Set();
  const ants = view.inventories
    .flatMap((inventory) => inventory.ants)
    .filter((ant) => were.get(ant.id) !== String(ant.coords));
  return new Set(ants.flatMap((ant) => [were.get(ant.id) ?? [], String(ant.coords)].flat()));
}

/** The colour of a row: in seat 1's view the board is turned, and its own side is at the top. */
export function home(y: number, seat: number | null): string {
  const side = y < 4 ? 0 : y > 5 ? 1 : null;
  return side === null ? "" : `home-${seat === 1 ? 1 - side : side}`;
}

/** The centre of a tile. */
function middle(at: number): number {
  return (at + 0.5) * SIZE;
}

export function Board(props: BoardProps<Frames>) {
  const [pointed, point] = useState<number | null>(null);
  const [focused, focus] = useState<number | null>(null);
  const { view, before, seat } = props;
  if (!view) return <Plain {...props} />;
  const tiles = Array.from({ length: 100 }, (_, at) => [at % 10, Math.floor(at / 10)] as const);
  const moved = moves(view, before);
  const reach = (seat === null && props.step.marks.reach) || {};
  return (
    <svg viewBox={`-18 -18 ${10 * SIZE + 22} ${10 * SIZE + 22}`} class="reantics">
      {tiles.map(([x, y]) => (
        <rect
          key={`${x},${y}`}
          class={`cell ${home(y, seat)}`}
          x={x * SIZE}
          y={y * SIZE}
          width={SIZE - 1}
          height={SIZE - 1}
        />
      ))}
      {Array.from({ length: 10 }, (_, at) => (
        <>
          <text class="edge" x={middle(at)} y={-5}>
            {at}
          </text>
          <text class="edge" x={-9} y={(at + 0.6) * SIZE}>
            {at}
          </text>
        </>
      ))}
      {view.inventories.flatMap((inventory) =>
        inventory.constrs.map((constr) => <Built key={String(constr.coords)} {...constr} />),
      )}
      {view.inventories.flatMap((inventory) =>
        inventory.ants.map((ant) => <Walker key={ant.id} {...ant} reach={reach[ant.id]} point={point} focus={focus} />),
      )}
      {(reach[pointed ?? focused ?? ""] ?? []).map(([x, y]) => (
        <circle key={`~${x},${y}`} class="reach" data-tile={`${x},${y}`} cx={middle(x)} cy={middle(y)} r={8} />
      ))}
      {tiles.map(
        ([x, y]) =>
          moved.has(`${x},${y}`) && (
            <rect
              key={`.${x},${y}`}
              class="last"
              x={x * SIZE + 2}
              y={y * SIZE + 2}
              width={SIZE - 5}
              height={SIZE - 5}
              rx={4}
            />
          ),
      )}
      {tiles.map(([x, y]) => {
        const target = hot(props.pick, `${x},${y}`, `tile ${x},${y}`);
        return (
          target && (
            <rect
              key={`!${x},${y}`}
              {...target}
              x={x * SIZE + 2}
              y={y * SIZE + 2}
              width={SIZE - 5}
              height={SIZE - 5}
              rx={4}
            />
          )
        );
      })}
    </svg>
  );
}

function Built({ coords: [x, y], type, player, captureHealth }: Omit<Construction, "movementCost">) {
  const [left, top] = [x * SIZE, y * SIZE];
  const label = `${CONSTRUCTIONS[type]}${player === undefined ? "" : ` of seat ${player}, ${captureHealth} to capture`}`;
  return (
    <g role="img" aria-label={`${label} on ${x},${y}`}>
      {type === GRASS && <path class="grass" d={`M${left + 8} ${top + 40}q4-16 2-26m8 26q2-20 8-28m4 28q-2-12 6-22`} />}
      {type === FOOD && <circle class="food" cx={left + 24} cy={top + 26} r={12} />}
      {type === ANTHILL && <path class={`built seat-${player}`} d={`M${left + 3} ${top + 44}l21-40 21 40z`} />}
      {type === TUNNEL && <ellipse class={`built seat-${player}`} cx={left + 24} cy={top + 34} rx={20} ry={11} />}
      {captureHealth !== undefined && (
        <text class="small" x={left + 42} y={top + 45}>
          {captureHealth}
        </text>
      )}
    </g>
  );
}

interface WalkerProps extends Ant {
  /** Where it can go; undefined if unknown. */
  reach?: [number, number][] | undefined;
  point?: (ant: number | null) => void;
  focus?: (ant: number | null) => void;
}

/** An ant. Where it can go is shown on hover and on focus. */
function Walker({ id, coords: [x, y], type, player, health, carrying, hasMoved, reach, point, focus }: WalkerProps) {
  const looked = reach && {
    tabIndex: 0,
    "aria-description": reach.length > 0 ? `can go to ${reach.join(" ")}` : "can go nowhere",
    onMouseEnter: () => point?.(id),
    onMouseLeave: () => point?.(null),
    onFocus: () => focus?.(id),
    onBlur: () => focus?.(null),
  };
  const label = `${ANTS[type]} of seat ${player} on ${x},${y}, health ${health}${carrying ? ", carries food" : ""}`;
  return (
    <g
      role="img"
      aria-label={label}
      class={hasMoved ? "walker moved" : "walker"}
      style={{ transform: `translate(${x * SIZE}px, ${y * SIZE}px)` }}
      {...looked}
    >
      <circle class={`piece seat-${player}`} cx={24} cy={24} r={15} />
      <text class="letter" x={24} y={29}>
        {LETTERS[type]}
      </text>
      <text class="small" x={6} y={13}>
        {health}
      </text>
      {carrying && <circle class="food" cx={38} cy={12} r={6} />}
    </g>
  );
}

const ANT: Ant = { id: 0, coords: [0, 0], type: 1, player: 0, health: 4, carrying: false, hasMoved: false };

/** A piece on a tile, in the size of a legend. */
function small(piece: ReturnType<typeof Walker>) {
  return <g transform="translate(-12 -12) scale(0.5)">{piece}</g>;
}

export const legend: Sign[] = [
  ...ANTS.map((meaning, type) => ({
    drawing: small(<Walker {...ANT} type={type} />),
    meaning: type === 0 ? `${meaning}, and her health` : meaning,
  })),
  { drawing: small(<Walker {...ANT} carrying />), meaning: "carries food" },
  { drawing: small(<Walker {...ANT} hasMoved />), meaning: "has moved in this turn" },
  {
    drawing: small(<Built coords={[0, 0]} type={ANTHILL!} player={0} captureHealth={3} />),
    meaning: "anthill, and what is left to capture it",
  },
  { drawing: small(<Built coords={[0, 0]} type={TUNNEL!} player={0} captureHealth={2} />), meaning: "tunnel" },
  { drawing: small(<Built coords={[0, 0]} type={GRASS!} />), meaning: "grass" },
  { drawing: small(<Built coords={[0, 0]} type={FOOD!} />), meaning: "food" },
  { drawing: <circle class="reach" r={5} />, meaning: "where the ant that you point at, or go to with Tab, can go" },
  {
    drawing: <rect class="last" x={-11} y={-11} width={22} height={22} rx={4} />,
    meaning: "from and to where an ant went",
  },
];
