import type { BoardProps } from "./painter";
import { Pending, type Won, puts, winners } from "./arena";
import { last } from "./last";
import { useMotion } from "./motion";
import { hot } from "./pick";
import { Board as Plain } from "./plain";
import type { Frames } from "./types/tictactoe";

const CELLS = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"];

/** A circle and a cross as a hand draws them. */
const RING = "c-22-7-42 8-41 30c1 20 16 30 33 29c20-1 32-14 31-31c-1-17-12-28-30-29";
const CROSS = "q26 30 57 56m-1-57q-32 26-55 58";

export const targets = puts("position");

export function Board(props: BoardProps<Frames & Won>) {
  const { view } = props;
  const board = useMotion(props, () => []);
  if (!view) return <Plain {...props} />;
  const put = last(props.step, targets);
  const won = winners(props.step);
  return (
    <svg ref={board} viewBox="-14 -14 328 328" class="tictactoe">
      <rect class="slate" x={-12} y={-12} width={324} height={324} rx={14} />
      {CELLS.map((cell, index) => {
        const [x, y] = [(index % 3) * 100, Math.floor(index / 3) * 100];
        const sign = view.board[index]!;
        const drawn = put.has(cell) && props.motion ? "sign drawn" : "sign";
        return (
          <g
            key={cell}
            role="img"
            aria-label={`${cell} ${sign === "." ? "empty" : sign}${won.has(cell) ? ", in the winning line" : ""}`}
          >
            <rect class={won.has(cell) ? "cell won" : "cell"} x={x} y={y} width={100} height={100} />
            {sign !== "." && put.has(cell) && <rect class="last" x={x + 6} y={y + 6} width={88} height={88} rx={6} />}
            {sign === "O" && <path class={`${drawn} seat-0`} pathLength={1} d={`M${x + 58} ${y + 21}${RING}`} />}
            {sign === "X" && <path class={`${drawn} seat-1`} pathLength={1} d={`M${x + 22} ${y + 22}${CROSS}`} />}
          </g>
        );
      })}
      {CELLS.map((cell, index) => {
        const target = hot(props.pick, cell, cell);
        return (
          target && (
            <rect
              key={`!${cell}`}
              {...target}
              x={(index % 3) * 100}
              y={Math.floor(index / 3) * 100}
              width={100}
              height={100}
            />
          )
        );
      })}
      <path class="chalk" d="M100 6q2 140 0 288M200 4q-2 150 1 290M6 100q150 3 288 0M5 200q140-3 290 1" />
      <Pending step={props.step} side={view.pending} x={150} y={155} />
    </svg>
  );
}
