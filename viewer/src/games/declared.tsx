// The painter of games without one of their own: it draws the board that the game declares, or its text.

import type { BoardProps } from "./painter";
import { LETTER, type Cell, type Piece, type Placed, UNIT, placed } from "./layout";
import { hot } from "./pick";
import { Board as Plain } from "./plain";
import { LINES, PIPS, SHAPES } from "./shapes";
import { visible } from "../views/words";
import { rulings } from "../match";

/** The pixels of a window in which parts stand below each other only. */
const NARROW = 500;
const WRITTEN = ["card", "tile", "die", "letter"];
const WALLS = ["wall-right", "wall-below"];
/** A tile points to the other side. */
const POINTED = "M-15 16h30l-3-27l-12-7l-12 7z";
const HEXAGON = [-90, -30, 30, 90, 150, 210]
  .map((angle) => (angle * Math.PI) / 180)
  .map((angle) => `${(Math.cos(angle) * UNIT) / Math.sqrt(3)} ${(Math.sin(angle) * UNIT) / Math.sqrt(3)}`)
  .join("L");

export function Board(props: BoardProps) {
  const board = props.board ?? props.step.boards?.[(props.seat ?? -1) + 1];
  if (!board) return <Plain {...props} />;
  const { width, height, cells, labels, lines } = placed(board, innerWidth < NARROW);
  const moves = rulings(props.step.line).length > 0 ? [] : Object.values(props.step.line.clicks ?? {});
  const found = moves.map((keys) => keys.flatMap((key) => where(cells, key) ?? []));
  return (
    <svg viewBox={`-8 -8 ${width + 16} ${height + 16}`} class="declared">
      <defs>
        <marker id="head" viewBox="0 0 10 10" refX={7} refY={5} markerWidth={4} markerHeight={4} orient="auto">
          <path d="M0 0l10 5l-10 5z" />
        </marker>
      </defs>
      {cells.map((each, at) => (
        <Ground key={at} {...each} />
      ))}
      {lines.map((each, at) => (
        <line key={at} class="ruled" x1={each[0]} y1={each[1]} x2={each[2]} y2={each[3]} />
      ))}
      {found.flat().map(({ x, y, height }, at) => (
        <rect key={at} class="last" x={x - 18} y={y - height / 2 + 2} width={36} height={height - 4} rx={4} />
      ))}
      {cells.map((each, at) => (
        <Pieces key={at} {...each} />
      ))}
      {found.map((way, at) => way.length > 1 && <Arrow key={at} from={way[0]!} to={way.at(-1)!} />)}
      {labels.map(({ text, x, y, kind, seat }, at) => (
        <text
          key={at}
          class={`${kind} ${kind === "title" && seat != null ? `seat-${seat % 4}` : ""}`}
          x={x}
          y={y}
          {...(kind === "written"
            ? { textLength: Math.max(1, text.length * LETTER), lengthAdjust: "spacingAndGlyphs" }
            : {})}
        >
          {visible(text)}
        </text>
      ))}
      {cells.map(({ cell, x, y, height, outline }, at) => {
        const target = cell.name ? hot(props.pick, cell.name, labelOf(cell)) : undefined;
        const size = outline === "point" || outline === "hexagon" ? 15 : 18;
        return (
          target && (
            <rect
              key={at}
              {...target}
              x={x - size}
              y={y - height / 2 + 20 - size}
              width={2 * size}
              height={height - 40 + 2 * size}
              rx={6}
            />
          )
        );
      })}
    </svg>
  );
}

/** The place of a click: of cells that share its name, the first with a piece. */
function where(cells: Placed[], key: string): Placed | undefined {
  const named = cells.filter(({ cell }) => cell.name === key);
  return named.find(({ cell }) => (cell.pieces ?? []).length > 0) ?? named[0];
}

function labelOf({ name, pieces = [] }: Cell): string {
  const on = pieces.slice(-1).map(({ shape, text, seat }) => {
    const whose = seat == null ? "" : ` of seat ${seat}`;
    return `${WRITTEN.includes(shape) ? "" : shape} ${text ?? ""}`.trim() + whose;
  });
  const count = pieces.length > 1 ? [`${pieces.length} pieces`] : [];
  return [name, ...count, ...on].filter(Boolean).join(", ");
}

function Ground({ cell, x, y, height, outline, dark }: Placed) {
  if (cell.shade === "gone" || outline === "none") return null;
  const shade = `ground ${outline} ${dark ? "dark" : ""} ${cell.shade === "goal" ? "goal" : ""}`;
  const at = `translate(${x} ${y})`;
  if (outline === "hexagon") return <path class={shade} transform={at} d={`M${HEXAGON}z`} />;
  if (outline === "point") return cell.name?.includes(",") ? null : <circle class={shade} cx={x} cy={y} r={5} />;
  return <rect class={shade} x={x - UNIT / 2} y={y - height / 2} width={UNIT} height={height} />;
}

function Pieces({ cell, x, y, height, stacked }: Placed) {
  const pieces = cell.pieces ?? [];
  const walls = pieces.filter(({ shape }) => WALLS.includes(shape));
  const men = pieces.filter(({ shape }) => !WALLS.includes(shape));
  const many = men.length > 1 && (!stacked || men.length > height / UNIT);
  const step = stacked ? Math.min(UNIT - 2, (height - UNIT) / Math.max(1, men.length - 1)) : 0;
  const shown = stacked ? men : men.slice(-1);
  if (pieces.length === 0 && !cell.name) return null;
  return (
    <g role="img" aria-label={labelOf(cell)}>
      {shown.map((piece, at) => (
        <Man
          key={at}
          piece={many && at === shown.length - 1 ? { ...piece, text: piece.text || String(men.length) } : piece}
          x={x}
          y={y - stacked * (height / 2 - UNIT / 2 - at * step)}
        />
      ))}
      {walls.map(({ shape, seat }) => (
        <path
          key={shape}
          class={`wall ${seat == null ? "" : `seat-${seat % 4}`}`}
          transform={`translate(${x} ${y})`}
          d={LINES[shape]}
        />
      ))}
    </g>
  );
}

function Man({ piece: { shape, seat, text = "", colour = "" }, x, y }: { piece: Piece; x: number; y: number }) {
  const look = `${seat == null ? "nobody" : `seat-${seat % 4}`} ${colour}`;
  const size = Math.min(shape === "letter" || shape === "tile" ? 22 : 17, 46 / Math.max(2, text.length));
  return (
    <g class={`man ${shape} ${look}`} transform={`translate(${x} ${y})`}>
      {shape === "card" && <rect x={-18} y={-19} width={36} height={38} rx={4} />}
      {shape === "tile" && <path d={POINTED} transform={colour === "white" ? "rotate(180)" : undefined} />}
      {shape === "die" && <rect x={-16} y={-16} width={32} height={32} rx={6} />}
      {SHAPES[shape] && <path d={SHAPES[shape]} />}
      {LINES[shape] && <path class="line" d={LINES[shape]} />}
      {shape === "die" && PIPS[text]
        ? PIPS[text].map(([cx, cy], at) => <circle key={at} class="pip" cx={cx} cy={cy} r={3.2} />)
        : text && (
            <text class={WRITTEN.includes(shape) ? "" : "on"} y={size * 0.36} style={{ fontSize: `${size}px` }}>
              {visible(text)}
            </text>
          )}
    </g>
  );
}

function Arrow({ from, to }: { from: Placed; to: Placed }) {
  const [x, y] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(x, y);
  if (length < 1) return null;
  const part = Math.max(0, length - 12) / length;
  return <path class="arrow" marker-end="url(#head)" d={`M${from.x} ${from.y}l${x * part} ${y * part}`} />;
}
