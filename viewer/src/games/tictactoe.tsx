import type { BoardProps } from "./painter";
import { Pending, type Won, puts, winners } from "./arena";
import { last } from "./last";
import { hot } from "./pick";
import { Board as Plain } from "./plain";
import type { Frames } from "./types/tictactoe";

const CELLS = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"];

export const targets = puts("position");

export function Board(props: BoardProps<Frames & Won>) {
  const { view } = props;
  if (!view) return <Plain {...props} />;
  const put = last(props.step, targets);
  const won = winners(props.step);
  return (
    <svg viewBox="-4 -4 308 308" class="tictactoe">
      {CELLS.map((cell, index) => {
        const [x, y] = [(index % 3) * 100, Math.floor(index / 3) * 100];
        const sign = view.board[index]!;
        return (
          <g
            key={cell}
            role="img"
            aria-label={`${cell} ${sign === "." ? "empty" : sign}${won.has(cell) ? ", in the winning line" : ""}`}
          >
            <rect class={won.has(cell) ? "cell won" : "cell"} x={x} y={y} width={100} height={100} />
            {sign !== "." && put.has(cell) && <rect class="last" x={x + 6} y={y + 6} width={88} height={88} rx={6} />}
            {sign === "O" && <circle class="sign seat-0" cx={x + 50} cy={y + 50} r={30} />}
            {sign === "X" && <path class="sign seat-1" d={`M${x + 22} ${y + 22}l56 56m0-56l-56 56`} />}
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
      <Pending step={props.step} side={view.pending} x={150} y={155} />
    </svg>
  );
}
