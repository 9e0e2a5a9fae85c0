import { useState } from "preact/hooks";
import { rulings } from "../match";
import type { Json } from "../patch";
import { type Move as Motion, type Point, along, facing, lunge, placed, shake, useMotion } from "./motion";
import type { BoardProps, Sign } from "./painter";
import { type Key, hot } from "./pick";
import { Board as Plain } from "./plain";
import { Sprites } from "./sprites/reantics";
import type { Ant, Construction, Everything, Frames as Generated, Inventory, Seen } from "./types/reantics";

/** The marks say where each ant can go, by its id. */
type Frames = Generated & { marks: { reach?: Record<string, [number, number][]> } };

const SIZE = 48;
const ANTS = ["queen", "worker", "drone", "soldier", "ranged soldier"];
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

function centre([x, y]: Point): Point {
  return [middle(x), middle(y)];
}

/** What happened between two positions, for the marks and the movement. */
interface News {
  /** The way of the ant that went, tile by tile. */
  way: Point[];
  walker: Ant | undefined;
  /** An attack: who, if the view says it, whom, and the health that it took. */
  hit: { by: Ant | undefined; on: Ant; took: number; killed: boolean } | undefined;
  /** Changes of numbers, in words, and where. */
  notes: { at: Point; text: string }[];
  /** The buildings that lost capture health. */
  shaken: Point[];
}

/** A tile of an answer, as this view shows it: seat 1's board is turned. */
function turned([x, y]: Point, by: number, seat: number | null): Point {
  return (by === 1) === (seat === 1) ? [x, y] : [9 - x, 9 - y];
}

function news({ view, before, seat, step }: BoardProps<Frames>): News {
  const nothing: News = { way: [], walker: undefined, hit: undefined, notes: [], shaken: [] };
  if (!view || !before || rulings(step.line).length > 0) return nothing;
  const ants = (from: Seen | Everything) => from.inventories.flatMap((inventory) => inventory.ants);
  const were = new Map(ants(before).map((ant) => [ant.id, ant]));
  const are = new Map(ants(view).map((ant) => [ant.id, ant]));
  for (const [id, ant] of are) {
    const was = were.get(id);
    if (was && String(was.coords) !== String(ant.coords)) {
      nothing.walker = ant;
      nothing.way = [was.coords, ant.coords];
    }
    if (was && ant.carrying && !was.carrying) nothing.notes.push({ at: ant.coords, text: "food" });
    if (was && was.carrying && !ant.carrying) nothing.notes.push({ at: ant.coords, text: "+1" });
  }
  const answered = Object.entries(step.line.answers ?? {})[0];
  const answer = answered?.[1];
  if (nothing.walker && answer && !Array.isArray(answer) && answer.coordList) {
    const way = answer.coordList.map((tile) => turned(tile, Number(answered[0]), seat));
    if (String(way[0]) === String(nothing.way[0]) && String(way.at(-1)) === String(nothing.way[1])) nothing.way = way;
  }
  for (const [id, was] of were) {
    const now = are.get(id);
    if (now && now.health >= was.health) continue;
    const by = "attacker" in before && before.attacker !== null ? were.get(before.attacker) : undefined;
    nothing.hit = { by, on: was, took: was.health - (now?.health ?? 0), killed: !now };
  }
  const hills = new Map(view.inventories.flatMap(({ constrs }) => constrs.map((each) => [String(each.coords), each])));
  for (const { coords, captureHealth } of before.inventories.flatMap(({ constrs }) => constrs)) {
    const now = hills.get(String(coords))?.captureHealth;
    if (now === undefined || captureHealth === undefined || now >= captureHealth) continue;
    nothing.shaken.push(coords);
    nothing.notes.push({ at: coords, text: `−${captureHealth - now}` });
  }
  return nothing;
}

/** The angle in which an ant stands: away from its own side. */
function stands(player: number, seat: number | null): number {
  return (player === 1) === (seat === 1) ? 180 : 0;
}

/** Whether an ant shot at another from afar. */
function isFar({ by, on }: NonNullable<News["hit"]>): boolean {
  return by !== undefined && Math.hypot(by.coords[0] - on.coords[0], by.coords[1] - on.coords[1]) > 1.5;
}

/** How the pieces move into the shown position. */
function movement({ way, walker, hit, shaken }: News, seat: number | null): Motion[] {
  const corner = ([x, y]: Point): Point => [x * SIZE, y * SIZE];
  const walk = walker && {
    piece: walker.id,
    frames: along(way.map(corner)),
    body: facing(way, stands(walker.player, seat)),
  };
  const { by, on } = hit ?? {};
  const far = hit && isFar(hit);
  const attack = by && on && !far && { piece: by.id, frames: lunge(corner(by.coords), corner(on.coords)) };
  const shot = by && on && far && { piece: "shot", frames: along([centre(by.coords), centre(on.coords)]) };
  const hurt = on && !hit!.killed && { piece: on.id, frames: shake(corner(on.coords)), begins: 0.4 };
  const fallen = shaken.map((tile) => ({ piece: `b${tile.join("")}`, frames: shake(corner(tile)) }));
  return [walk, attack, shot, hurt, ...fallen].filter((move) => move !== undefined && move !== false);
}

export function Board(props: BoardProps<Frames>) {
  const [pointed, point] = useState<number | null>(null);
  const [focused, focus] = useState<number | null>(null);
  const { view, before, seat, motion } = props;
  const told = news(props);
  const board = useMotion(props, () => movement(told, seat));
  if (!view) return <Plain {...props} />;
  const tiles = Array.from({ length: 100 }, (_, at) => [at % 10, Math.floor(at / 10)] as const);
  const moved = moves(view, before);
  const known = new Set(before?.inventories.flatMap(({ ants }) => ants.map(({ id }) => id)));
  const reach = (seat === null && props.step.marks.reach) || {};
  return (
    <svg ref={board} viewBox={`-18 -18 ${10 * SIZE + 22} ${10 * SIZE + 22}`} class="reantics">
      <Sprites />
      {tiles.map(([x, y]) => (
        <rect
          key={`${x},${y}`}
          class={`cell ${home(y, seat)} ${(x + y) % 2 ? "odd" : ""}`}
          x={x * SIZE}
          y={y * SIZE}
          width={SIZE}
          height={SIZE}
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
      {tiles.map(
        ([x, y]) =>
          moved.has(`${x},${y}`) && (
            <rect
              key={`.${x},${y}`}
              class="last"
              x={x * SIZE + 2}
              y={y * SIZE + 2}
              width={SIZE - 4}
              height={SIZE - 4}
              rx={6}
            />
          ),
      )}
      {told.way.length > 0 && <polyline class="trail" points={told.way.map(centre).join(" ")} />}
      {view.inventories.flatMap((inventory) =>
        inventory.constrs.map((constr) => <Built key={String(constr.coords)} {...constr} />),
      )}
      {told.hit?.killed && motion && <Dead ant={told.hit.on} seat={seat} />}
      {view.inventories.flatMap((inventory) =>
        inventory.ants.map((ant) => (
          <Walker
            key={ant.id}
            {...ant}
            faces={stands(ant.player, seat)}
            hatches={Boolean(motion && before && view.phase === 3 && !known.has(ant.id))}
            reach={reach[ant.id]}
            point={point}
            focus={focus}
          />
        )),
      )}
      {(reach[pointed ?? focused ?? ""] ?? []).map(([x, y]) => (
        <circle key={`~${x},${y}`} class="reach" data-tile={`${x},${y}`} cx={middle(x)} cy={middle(y)} r={8} />
      ))}
      {motion ? <Effects key={props.step.line.turn} {...told} /> : null}
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

/** What flies up, and the acid of a ranged soldier. */
function Effects({ hit, notes }: News) {
  return (
    <g aria-hidden="true">
      {hit && isFar(hit) && (
        <g data-piece="shot" class="fx flash">
          <circle class="acid" r={7} />
        </g>
      )}
      {hit && <Note at={hit.on.coords} text={`−${hit.took}`} />}
      {notes.map(({ at, text }) => (
        <Note key={String(at)} at={at} text={text} />
      ))}
    </g>
  );
}

function Note({ at, text }: { at: Point; text: string }) {
  const [x, y] = centre(at);
  return (
    <g transform={`translate(${x} ${y - 8})`}>
      <g class="fx rise">
        {text === "food" || text === "+1" ? <use href="#food" x={-24} y={-34} /> : null}
        {text !== "food" && <text class="loud">{text}</text>}
      </g>
    </g>
  );
}

/** An ant that was killed in this step. */
function Dead({ ant, seat }: { ant: Ant; seat: number | null }) {
  const [x, y] = centre(ant.coords);
  return (
    <g aria-hidden="true" class={`fx dies seat-${ant.player}`}>
      <use href={`#ant-${ant.type}`} transform={`translate(${x} ${y}) rotate(${stands(ant.player, seat)})`} />
    </g>
  );
}

function Built({ coords: [x, y], type, player, captureHealth }: Omit<Construction, "movementCost">) {
  const name = CONSTRUCTIONS[type]!;
  const label = `${name}${player === undefined ? "" : ` of seat ${player}, ${captureHealth} to capture`}`;
  return (
    <g
      role="img"
      aria-label={`${label} on ${x},${y}`}
      class={player === undefined ? "built" : `built seat-${player}`}
      data-piece={`b${x}${y}`}
      style={{ transform: placed([x * SIZE, y * SIZE]) }}
    >
      <use href={`#${name}`} />
      {captureHealth !== undefined && <Count sign="shield" number={captureHealth} x={39} y={10} />}
    </g>
  );
}

/** A number on a sign. */
function Count({ sign, number, x, y }: { sign: string; number: number; x: number; y: number }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <use href={`#${sign}`} />
      <text class="count" y={4}>
        {number}
      </text>
    </g>
  );
}

interface WalkerProps extends Ant {
  /** The angle in which it stands. */
  faces: number;
  /** It was built in this step. */
  hatches?: boolean;
  /** Where it can go; undefined if unknown. */
  reach?: [number, number][] | undefined;
  point?: (ant: number | null) => void;
  focus?: (ant: number | null) => void;
}

/** An ant. Where it can go is shown on hover and on focus. */
function Walker(props: WalkerProps) {
  const { id, coords, type, player, health, carrying, hasMoved, faces, hatches, reach, point, focus } = props;
  const [x, y] = coords;
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
      class={`walker seat-${player} ${hasMoved ? "moved" : ""} ${hatches ? "hatches" : ""}`}
      data-piece={id}
      style={{ transform: placed([x * SIZE, y * SIZE]) }}
      {...looked}
    >
      <g transform="translate(24 24)">
        <ellipse class="shadow" cy={3} rx={15} ry={17} />
        <g class="body" style={{ transform: `rotate(${faces}deg)` }}>
          <use href={`#ant-${type}`} transform="scale(1.12)" />
          {carrying && <use href="#food" transform="translate(-12 -36) scale(0.5)" />}
        </g>
      </g>
      <Count sign="heart" number={health} x={10} y={38} />
    </g>
  );
}

const ANT: WalkerProps = {
  id: 0,
  coords: [0, 0],
  type: 1,
  player: 0,
  health: 4,
  carrying: false,
  hasMoved: false,
  faces: 0,
};

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
