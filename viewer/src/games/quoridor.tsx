import type { BoardProps } from "./painter";
import { Pending, puts } from "./arena";
import { last } from "./last";
import { hot } from "./pick";
import { Board as Plain } from "./plain";
import type { Frames } from "./types/quoridor";

const SIDES = ["first", "second"];
const SIZE = 40;
const LETTERS = "abcdefghi";

/** The left upper corner of a square; row 1 is at the bottom. */
export function corner(square: string): [x: number, y: number] {
  return [LETTERS.indexOf(square[0]!) * SIZE, (9 - Number(square[1])) * SIZE];
}

export const targets = puts("position");

export function Board(props: BoardProps<Frames>) {
  const { view } = props;
  if (!view) return <Plain {...props} />;
  const put = last(props.step, targets);
  const squares = [...LETTERS].flatMap((column) => [1, 2, 3, 4, 5, 6, 7, 8, 9].map((row) => `${column}${row}`));
  return (
    <svg viewBox={`-26 -6 ${9 * SIZE + 94} ${9 * SIZE + 32}`} class="quoridor">
      {squares.map((square) => {
        const [x, y] = corner(square);
        const pawn = view.pawns.indexOf(square);
        return (
          <g key={square} role="img" aria-label={pawn < 0 ? square : `${square}, ${SIDES[pawn]}'s pawn`}>
            <rect class="cell" x={x + 2} y={y + 2} width={SIZE - 4} height={SIZE - 4} rx={3} />
            {pawn >= 0 && put.has(square) && <circle class="last" cx={x + SIZE / 2} cy={y + SIZE / 2} r={16} />}
            {pawn >= 0 && <circle class={`piece seat-${pawn}`} cx={x + SIZE / 2} cy={y + SIZE / 2} r={13} />}
            {pawn >= 0 && (
              <text class="letter" x={x + SIZE / 2} y={y + SIZE / 2 + 5}>
                {SIDES[pawn]?.[0]?.toUpperCase()}
              </text>
            )}
          </g>
        );
      })}
      {view.walls.map((wall) => {
        const [x, y] = corner(wall);
        const shape =
          wall[2] === "h"
            ? { x: x + 2, y: y - 3, width: 2 * SIZE - 4, height: 6 }
            : { x: x + SIZE - 3, y: y - SIZE + 2, width: 6, height: 2 * SIZE - 4 };
        return (
          <rect
            key={wall}
            class={put.has(wall) ? "wall newest" : "wall"}
            role="img"
            aria-label={`wall ${wall}`}
            rx={2}
            {...shape}
          />
        );
      })}
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
        <text key={letter} class="edge" x={(index + 0.5) * SIZE} y={9 * SIZE + 18}>
          {letter}
        </text>
      ))}
      {[1, 2, 3, 4, 5, 6, 7, 8, 9].map((row) => (
        <text key={row} class="edge" x={-12} y={(9.6 - row) * SIZE}>
          {row}
        </text>
      ))}
      {view.walls_left.map((left, seat) => (
        <g
          key={seat}
          role="img"
          aria-label={`${SIDES[seat]} has ${left} walls left`}
          transform={`translate(${9 * SIZE + 36} ${seat === 0 ? 9 * SIZE - 48 : 16})`}
        >
          <circle class={`piece seat-${seat}`} r={9} />
          <text class="letter small" y={4}>
            {SIDES[seat]?.[0]?.toUpperCase()}
          </text>
          <text class="edge" y={26}>
            {left} {left === 1 ? "wall" : "walls"}
          </text>
        </g>
      ))}
      <Pending step={props.step} side={view.pending} x={4.5 * SIZE} y={4.5 * SIZE} />
    </svg>
  );
}
