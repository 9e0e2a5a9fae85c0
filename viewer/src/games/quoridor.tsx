import type { BoardProps } from "./painter";
import { Pending, puts } from "./arena";
import { last } from "./last";
import { type Point, along, placed, useMotion } from "./motion";
import { hot } from "./pick";
import { Board as Plain } from "./plain";
import { Sprites } from "./sprites/quoridor";
import type { Frames } from "./types/quoridor";

const SIDES = ["first", "second"];
const SIZE = 40;
const LETTERS = "abcdefghi";

/** The left upper corner of a square; row 1 is at the bottom. */
export function corner(square: string): [x: number, y: number] {
  return [LETTERS.indexOf(square[0]!) * SIZE, (9 - Number(square[1])) * SIZE];
}

export const targets = puts("position");

/** The grain of the wood of all squares. */
const GRAIN = [...LETTERS]
  .flatMap((letter) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((row) => corner(`${letter}${row}`)))
  .map(([x, y]) => `M${x + 5} ${y + 11 + ((x + y) % 5)}q8-4 15 0t15 0M${x + 5} ${y + 25 + ((x * 3 + y) % 4)}q10 3 30-1`)
  .join("");

/** The centre of a square. */
function middle(square: string): Point {
  const [x, y] = corner(square);
  return [x + SIZE / 2, y + SIZE / 2];
}

export function Board(props: BoardProps<Frames>) {
  const { view, before } = props;
  const board = useMotion(props, () =>
    (view?.pawns ?? []).flatMap((pawn, piece) => {
      const was = before?.pawns[piece] ?? pawn;
      return was === pawn ? [] : [{ piece, frames: along([middle(was), middle(pawn)]) }];
    }),
  );
  if (!view) return <Plain {...props} />;
  const put = last(props.step, targets);
  const squares = [...LETTERS].flatMap((column) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((row) => `${column}${row}`));
  return (
    <svg ref={board} viewBox={`-32 -14 ${9 * SIZE + 104} ${9 * SIZE + 44}`} class="quoridor">
      <Sprites />
      <rect class="table" x={-8} y={-8} width={9 * SIZE + 16} height={9 * SIZE + 16} rx={10} />
      {squares.map((square) => {
        const [x, y] = corner(square);
        const pawn = view.pawns.indexOf(square);
        return (
          <g key={square} role="img" aria-label={pawn < 0 ? square : `${square}, ${SIDES[pawn]}'s pawn`}>
            <rect class="cell" x={x + 3} y={y + 3} width={SIZE - 6} height={SIZE - 6} rx={3} />
            {pawn >= 0 && put.has(square) && (
              <rect class="last" x={x + 3} y={y + 3} width={SIZE - 6} height={SIZE - 6} rx={3} />
            )}
          </g>
        );
      })}
      <path class="grain" d={GRAIN} />
      {view.walls.map((wall) => {
        const [x, y] = corner(wall);
        const shape =
          wall[2] === "h"
            ? { x: x + 2, y: y - 4, width: 2 * SIZE - 4, height: 8 }
            : { x: x + SIZE - 4, y: y - SIZE + 2, width: 8, height: 2 * SIZE - 4 };
        return (
          <rect
            key={wall}
            class={`wall ${put.has(wall) ? "newest" : ""} ${put.has(wall) && props.motion ? "lands" : ""}`}
            role="img"
            aria-label={`wall ${wall}`}
            rx={2}
            {...shape}
          />
        );
      })}
      {view.pawns.map((pawn, seat) => (
        <g key={seat} class={`seat-${seat}`} data-piece={seat} style={{ transform: placed(middle(pawn)) }}>
          <Pawn seat={seat} />
        </g>
      ))}
      {squares.map((square) => {
        const [x, y] = corner(square);
        const target = hot(props.pick, square, square);
        return (
          target && (
            <rect key={`!${square}`} {...target} x={x + 8} y={y + 8} width={SIZE - 16} height={SIZE - 16} rx={3} />
          )
        );
      })}
      {squares.flatMap((square) =>
        ["h", "v"].map((direction) => {
          const [x, y] = corner(square);
          const target = hot(props.pick, square + direction, `wall ${square}${direction}`);
          const shape =
            direction === "h"
              ? { x: x + 4, y: y - 5, width: SIZE - 8, height: 10 }
              : { x: x + SIZE - 5, y: y + 4, width: 10, height: SIZE - 8 };
          return target && <rect key={square + direction} {...target} {...shape} rx={3} />;
        }),
      )}
      {[...LETTERS].map((letter, index) => (
        <text key={letter} class="edge" x={(index + 0.5) * SIZE} y={9 * SIZE + 24}>
          {letter}
        </text>
      ))}
      {[1, 2, 3, 4, 5, 6, 7, 8, 9].map((row) => (
        <text key={row} class="edge" x={-19} y={(9.6 - row) * SIZE}>
          {row}
        </text>
      ))}
      {view.walls_left.map((left, seat) => (
        <g
          key={seat}
          role="img"
          aria-label={`${SIDES[seat]} has ${left} walls left`}
          class={`seat-${seat}`}
          transform={`translate(${9 * SIZE + 40} ${seat === 0 ? 9 * SIZE - 112 : 16})`}
        >
          <Pawn seat={seat} />
          <text class="edge" y={32}>
            {left} {left === 1 ? "wall" : "walls"}
          </text>
          {Array.from({ length: left }, (_, at) => (
            <rect key={at} class="wall" x={-22} y={40 + at * 8} width={44} height={6} rx={2} />
          ))}
        </g>
      ))}
      <Pending step={props.step} side={view.pending} x={4.5 * SIZE} y={4.5 * SIZE} />
    </svg>
  );
}

function Pawn({ seat }: { seat: number }) {
  return (
    <>
      <use href="#pawn" />
      <text class="letter small" y={12}>
        {SIDES[seat]?.[0]?.toUpperCase()}
      </text>
    </>
  );
}
