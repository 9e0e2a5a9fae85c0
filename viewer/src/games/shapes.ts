// The shapes of pieces that come along with declared boards, drawn around the centre within a radius of 16.

const round = (radius: number, x = 0, y = 0) =>
  `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;

/** Outlines to fill. */
export const SHAPES: Record<string, string> = {
  king: "M-10 14h20l-1-6q6-5 4-11q-4-5-11-1v-4h3v-4h-3v-4h-4v4h-3v4h3v4q-7-4-11 1q-2 6 4 11z",
  queen: "M-10 14h20l-1-5l4-16l-6 6l-2-11l-5 10l-5-10l-2 11l-6-6l4 16z",
  rook: "M-11 14h22v-5h-3v-13l3-2v-8h-5v3h-3v-3h-6v3h-3v-3h-5v8l3 2v13h-3z",
  bishop: "M-10 14h20q0-4-6-5l-1-3q5-4 5-9q0-6-6-10a3 3 0 1 0-4 0q-6 4-6 10q0 5 5 9l-1 3q-6 1-6 5z",
  knight: "M-8 14h18q3-16-4-23q-3-4-7-4l-1-3l-4 4q-6 5-7 12l3 4l4-3l5-1q-1 6-4 8q-3 2-3 6z",
  pawn: "M-10 14h20q0-6-5-8q-2-5-1-8h3v-3h-3a6 6 0 1 0-8 0h-3v3h3q1 3-1 8q-5 2-5 8z",
  stone: round(16),
  disc: `${round(16)}${round(10)}`,
  crowned: `${round(16)}M-8 6h16l2-11l-5 4l-5-8l-5 8l-5-4z`,
  square: "M-13-13h26v26h-26z",
  triangle: "M0-14l15 26h-30z",
  diamond: "M0-16l14 16l-14 16l-14-16z",
  star: "M0-16l5 11l12 1l-9 8l3 12l-11-6l-11 6l3-12l-9-8l12-1z",
  dot: round(3.5),
  heart: "M0 14q-22-14-14-25q8-8 14 2q6-10 14-2q8 11-14 25z",
  back: "M-12-17h24v34h-24zM-8-13v26h16v-26z",
  coin: `${round(15)}${round(12)}`,
  seed: "M-15 0q0-13 15-13t15 13q0 13-15 13t-15-13z",
  key: `${round(6, -8)}M-3-2h18v8h-4v-4h-3v4h-4v-4h-7z`,
  book: "M-15-11q8-4 15 0q7-4 15 0v22q-8-3-15 1q-7-4-15-1z",
  hat: "M-16 10h32v-4h-7q1-16-9-16t-9 16h-7z",
  ball: `${round(14)}M-14 0h28M0-14v28`,
  box: "M-14-9l14-6l14 6v18l-14 6l-14-6z",
  food: "M0-9q12-7 14 4q0 14-10 19q-4-2-8 0q-10-5-10-19q2-11 14-4q0-6 5-8q0 5-5 8z",
  cup: "M-11-12h20v4h6v10h-6q-1 8-6 10h-8q-6-3-6-12zM9-5v5h3v-5z",
  crown: "M-14 12h28l2-20l-9 8l-7-13l-7 13l-9-8z",
  sword: "M-2-16h4l1 20h6v4h-6v8h-6v-8h-6v-4h6z",
  shield: "M-14-14h28q2 22-14 30q-16-8-14-30z",
  ship: "M-19-12h38v24h-38z",
  hit: "M-14-9l5-5l9 9l9-9l5 5l-9 9l9 9l-5 5l-9-9l-9 9l-5-5l9-9z",
  miss: round(6),
  burnt: "M-17-17h34v34h-34z",
  fog: "M-20-20h40v40h-40z",
  flag: "M-10-16h3l16 7l-16 8v16h-3z",
  house: "M0-15l16 13h-4v15h-24v-15h-4z",
  tree: "M0-16l11 15h-5l7 10h-10v6h-6v-6h-10l7-10h-5z",
  rock: "M-16 11q-2-14 6-17q7-9 15-3q12 4 11 20z",
  water: "M0-15q22 30 0 30t0-30z",
  fire: "M0-16q13 10 10 20q-2 11-10 11t-11-10q0-7 5-10q0 5 3 6q2-8 3-17z",
  bomb: `${round(12, 0, 3)}M2-8l4-8l4 2l-4 8z`,
  bolt: "M4-17l-13 19h8l-3 15l13-20h-8z",
  up: "M0-15l14 24l-14-6l-14 6z",
  right: "M15 0l-24 14l6-14l-6-14z",
  down: "M0 15l14-24l-14 6l-14-6z",
  left: "M-15 0l24 14l-6-14l6-14z",
  person: `${round(6, 0, -9)}M-12 15q0-17 12-17t12 17z`,
  robot: "M-2-16h4v4h10v12h2v4h-2v11h-24v-11h-2v-4h2v-12h10zM-7-7v5h4v-5zM3-7v5h4v-5z",
  bug: "M0-15q7 0 7 8l7-3v3l-6 4v5l7 4v3l-8-3q-2 9-7 9t-7-9l-8 3v-3l7-4v-5l-6-4v-3l7 3q0-8 7-8z",
  fish: "M-16 0q10-14 22-3l8-7v20l-8-7q-12 11-22-3z",
  bird: "M-16-4q8-8 15 3q7-11 17-5q-8 3-9 11q-6 9-17 4l-7 3l5-6q-4-4-4-10z",
  snake: `${round(14)}M-7-4h4v4h-4zM3-4h4v4h-4z`,
};

/** Lines to draw. */
export const LINES: Record<string, string> = {
  ring: round(12),
  cross: "M-12-12l24 24M12-12l-24 24",
  "line-across": "M-20 0h40",
  "line-down": "M0-20v40",
  "wall-right": "M20-20v40",
  "wall-below": "M-20 20h40",
};

/** Where the points of a die are. */
export const PIPS: Record<string, [number, number][]> = {
  1: [[0, 0]],
  2: [
    [-7, -7],
    [7, 7],
  ],
  3: [
    [-7, -7],
    [0, 0],
    [7, 7],
  ],
  4: [
    [-7, -7],
    [7, 7],
    [-7, 7],
    [7, -7],
  ],
  5: [
    [-7, -7],
    [7, 7],
    [-7, 7],
    [7, -7],
    [0, 0],
  ],
  6: [
    [-7, -8],
    [-7, 0],
    [-7, 8],
    [7, -8],
    [7, 0],
    [7, 8],
  ],
};
