import type { BoardProps } from "./painter";
import { Pending, type Won, puts, winners } from "./arena";
import { last } from "./last";
import { useMotion } from "./motion";
import { hot } from "./pick";
import { Board as Plain } from "./plain";
import type { Frames } from "./types/connectfour";

const NAMES = "ABCDEFG";
const SIZE = 60;
const SEATS: Record<string, number> = { R: 0, Y: 1 };

export const targets = puts("column");

/** A disc falls from above the board, and bounces. */
const DROP: Keyframe[] = [
  { transform: "translateY(var(--height))", easing: "ease-in" },
  { transform: "none", offset: 0.6, easing: "ease-out" },
  { transform: "translateY(-14px)", offset: 0.78, easing: "ease-in" },
  { transform: "none" },
];

/** A cell is named by its column and row; row 1 is at the bottom. */
export function Board(props: BoardProps<Frames & Won>) {
  const { view } = props;
  const board = useMotion(props, () => [{ piece: "disc", frames: DROP }]);
  if (!view) return <Plain {...props} />;
  const columns = Number(props.match.header.setup.options?.["columns"] ?? NAMES.length);
  const [letters, rows] = [NAMES.slice(0, columns), view.board.length / columns];
  const [width, height] = [columns * SIZE, rows * SIZE];
  const put = last(props.step, targets);
  const won = winners(props.step);
  const top = (column: number) =>
    [...view.board].findIndex((sign, index) => index % columns === column && sign in SEATS);
  return (
    <svg ref={board} viewBox={`-12 -12 ${width + 24} ${height + 42}`} class="connectfour">
      <rect class="frame" x={-8} y={-8} width={width + 16} height={height + 16} rx={14} />
      {[...view.board].map((sign, index) => {
        const [column, row] = [index % columns, Math.floor(index / columns)];
        const seat = SEATS[sign];
        const name = `${letters[column]}${rows - row}`;
        const [x, y] = [column * SIZE, row * SIZE];
        return (
          <g
            key={name}
            role="img"
            aria-label={`${name} ${seat === undefined ? "empty" : `token of seat ${seat}`}${won.has(name) ? ", in the winning line" : ""}`}
          >
            <rect class={won.has(name) ? "cell won" : "cell"} x={x} y={y} width={SIZE} height={SIZE} />
            <circle class="hole" cx={x + SIZE / 2} cy={y + SIZE / 2} r={25} />
            {put.has(letters[column]!) && top(column) === index && (
              <circle class="last" cx={x + SIZE / 2} cy={y + SIZE / 2} r={27.5} />
            )}
          </g>
        );
      })}
      {[...view.board].map((sign, index) => {
        const [column, row] = [index % columns, Math.floor(index / columns)];
        const name = `${letters[column]}${rows - row}`;
        const dropped = put.has(letters[column]!) && top(column) === index;
        return (
          sign in SEATS && (
            <g key={name} transform={`translate(${(column + 0.5) * SIZE} ${(row + 0.5) * SIZE})`}>
              <g data-piece={dropped ? "disc" : undefined} style={{ "--height": `${-(row + 1) * SIZE}px` }}>
                <circle class={`piece seat-${SEATS[sign]}`} r={24} />
                <circle class="groove" r={17} />
                {won.has(name) && <circle class="four" r={24} />}
                <text class="letter" y={6}>
                  {sign}
                </text>
              </g>
            </g>
          )
        );
      })}
      {[...letters].map((letter, column) => (
        <text key={letter} class="edge" x={(column + 0.5) * SIZE} y={height + 25}>
          {letter}
        </text>
      ))}
      {[...letters].map((letter, column) => {
        const target = hot(props.pick, letter, `column ${letter}`);
        return target && <rect key={`!${letter}`} {...target} x={column * SIZE} y={0} width={SIZE} height={height} />;
      })}
      <Pending step={props.step} side={view.pending} x={width / 2} y={height / 2} />
    </svg>
  );
}
