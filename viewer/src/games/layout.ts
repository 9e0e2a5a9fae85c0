// Where the parts of a declared board stand. The referee's `games/board.py` documents the data.

export interface Piece {
  shape: string;
  seat?: number | null;
  text?: string;
  colour?: string;
}

export interface Cell {
  name?: string;
  pieces?: Piece[];
  shade?: string;
}

interface Titled {
  title?: string;
  seat?: number | null;
  beside?: boolean;
}

export type Part = Titled &
  (
    | {
        kind: "grid";
        columns: number;
        cells: Cell[];
        ground?: "plain" | "chequered" | "lines";
        across?: string[];
        along?: string[];
        tall?: number;
      }
    | { kind: "hexagons"; rows: Cell[][]; starts: number[] }
    | { kind: "points"; points: (Cell & { x?: number; y?: number })[]; lines?: [number, number][] }
    | { kind: "row"; cells: Cell[] }
    | { kind: "text"; lines: string[] }
  );

export interface Declared {
  parts: Part[];
}

/** The width of a cell. */
export const UNIT = 40;
const TITLE = 26;
const GAP = 14;
const LINE = 21;
export const LETTER = 10.5;
/** The cells of a row below each other when it is longer. */
const LONGEST = 16;

/** A cell with its centre and its outline. */
export interface Placed {
  cell: Cell;
  x: number;
  y: number;
  height: number;
  outline: "square" | "crossing" | "hexagon" | "point" | "none";
  dark: boolean;
  /** Whether its pieces stand one above the other from the top (1), from the bottom (-1), or on one place (0). */
  stacked: -1 | 0 | 1;
}

export interface Label {
  text: string;
  x: number;
  y: number;
  kind: "label" | "title" | "written";
  seat?: number | null | undefined;
}

export interface Block {
  width: number;
  height: number;
  cells: Placed[];
  labels: Label[];
  /** Lines of the ground. */
  lines: [number, number, number, number][];
}

/** The whole board: blocks below each other, or beside the one before if there is room. */
export function placed(board: Declared, narrow: boolean): Block {
  const rows: Block[][] = [];
  for (const part of board.parts) {
    if (part.beside && !narrow && rows.length > 0) rows.at(-1)!.push(block(part));
    else rows.push([block(part)]);
  }
  const widths = rows.map((row) => row.reduce((sum, each) => sum + each.width, (row.length - 1) * 2 * GAP));
  const whole: Block = { width: Math.max(UNIT, ...widths), height: 0, cells: [], labels: [], lines: [] };
  rows.forEach((row, at) => {
    let x = (whole.width - widths[at]!) / 2;
    for (const each of row) {
      join(whole, each, x, whole.height);
      x += each.width + 2 * GAP;
    }
    whole.height += Math.max(...row.map((each) => each.height)) + GAP;
  });
  whole.height -= GAP;
  return whole;
}

function join(whole: Block, part: Block, x: number, y: number): void {
  whole.cells.push(...part.cells.map((each) => ({ ...each, x: each.x + x, y: each.y + y })));
  whole.labels.push(...part.labels.map((each) => ({ ...each, x: each.x + x, y: each.y + y })));
  whole.lines.push(...part.lines.map(([a, b, c, d]): Block["lines"][0] => [a + x, b + y, c + x, d + y]));
}

/** A part with its title. */
function block(part: Part): Block {
  const bare = PARTS[part.kind](part as never);
  if (!part.title) return bare;
  const width = Math.max(bare.width, part.title.length * 8.5);
  const whole: Block = { width, height: bare.height + TITLE, cells: [], labels: [], lines: [] };
  join(whole, bare, (width - bare.width) / 2, TITLE);
  whole.labels.push({ text: part.title, x: width / 2, y: TITLE - 10, kind: "title", seat: part.seat });
  return whole;
}

type Kind<K extends Part["kind"]> = Extract<Part, { kind: K }>;

const PARTS: { [K in Part["kind"]]: (part: Kind<K>) => Block } = { grid, hexagons, points, row, text };

function grid({ columns, cells, ground, across = [], along = [], tall = 1 }: Kind<"grid">): Block {
  const [left, height] = [along.length > 0 ? 26 : 0, UNIT * tall];
  const rows = Math.ceil(cells.length / columns);
  const found: Placed[] = cells.map((cell, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    return {
      cell,
      x: left + (column + 0.5) * UNIT,
      y: (row + 0.5) * height,
      height,
      outline: ground === "lines" ? "crossing" : "square",
      dark: cell.shade === "dark" || (ground === "chequered" && (column + row) % 2 === 1),
      stacked: tall === 1 ? 0 : row < rows / 2 ? 1 : -1,
    };
  });
  const labels: Label[] = [
    ...across.map((each, at): Label => label(each, left + (at + 0.5) * UNIT, rows * height + 18)),
    ...along.map((each, at): Label => label(each, 11, (at + 0.5) * height + 5)),
  ];
  const [x, y, end, low] = [left + UNIT / 2, UNIT / 2, left + (columns - 0.5) * UNIT, rows * height - UNIT / 2];
  const lines: Block["lines"] = [];
  if (ground === "lines") {
    for (let row = 0; row < rows; row++) lines.push([x, y + row * UNIT, end, y + row * UNIT]);
    for (let column = 0; column < columns; column++) lines.push([x + column * UNIT, y, x + column * UNIT, low]);
  }
  return {
    width: left * 2 + columns * UNIT, // so that the board itself is in the middle
    height: rows * height + (across.length > 0 ? 24 : 0),
    cells: found,
    labels,
    lines,
  };
}

function label(text: string, x: number, y: number): Label {
  return { text, x, y, kind: "label" };
}

/** Hexagons with a corner on top, so a row is three quarters of their height below the one above. */
function hexagons({ rows, starts }: Kind<"hexagons">): Block {
  const down = UNIT * Math.sqrt(0.75);
  const found = rows.flatMap((cells, row) =>
    cells.map((cell, column) => place(cell, (starts[row]! + column + 0.5) * UNIT, row * down + UNIT * 0.58, "hexagon")),
  );
  return around(found, rows.length * down + UNIT * 0.29);
}

function points({ points: all, lines = [] }: Kind<"points">): Block {
  const [left, top] = [Math.min(...all.map(({ x = 0 }) => x)), Math.min(...all.map(({ y = 0 }) => y))];
  const found = all.map((cell) =>
    place(cell, ((cell.x ?? 0) - left + 0.5) * UNIT, ((cell.y ?? 0) - top + 0.5) * UNIT, "point"),
  );
  const drawn = lines.flatMap(([from, to]): Block["lines"] => {
    const [a, b] = [found[from], found[to]];
    return a && b ? [[a.x, a.y, b.x, b.y]] : [];
  });
  return { ...around(found, Math.max(0, ...found.map(({ y }) => y)) + UNIT / 2), lines: drawn };
}

function row({ cells }: Kind<"row">): Block {
  const rows = Math.max(1, Math.ceil(cells.length / LONGEST));
  const columns = Math.ceil(cells.length / rows);
  const found = cells.map((cell, at) =>
    place(cell, ((at % columns) + 0.5) * UNIT, (Math.floor(at / columns) + 0.5) * UNIT, "none"),
  );
  return around(found, rows * UNIT);
}

function text({ lines }: Kind<"text">): Block {
  const width = Math.max(1, ...lines.map(({ length }) => length)) * LETTER;
  const labels = lines.map((each, at): Label => ({ text: each, x: 0, y: (at + 0.75) * LINE, kind: "written" }));
  return { width, height: lines.length * LINE, cells: [], labels, lines: [] };
}

function place(cell: Cell, x: number, y: number, outline: Placed["outline"]): Placed {
  return { cell, x, y, height: UNIT, outline, dark: cell.shade === "dark", stacked: 0 };
}

function around(cells: Placed[], height: number): Block {
  return { width: Math.max(UNIT, ...cells.map(({ x }) => x + UNIT / 2)), height, cells, labels: [], lines: [] };
}
