// The bracket of a tournament, for a hall. `addons/tournament/reports/bracket_drawing.py` makes the places.

import { cut, visible } from "./views/words";

interface Line {
  seed: number | null;
  name: string;
  points: number | null;
  won: boolean;
  lost: boolean;
}

interface Place {
  x: number;
  y: number;
  match: { lines: [Line, Line]; decision: string } | null;
  text: string;
  heavy: boolean;
}

export interface Drawing {
  title: string;
  width: number;
  height: number;
  places: Place[];
  connections: string[];
}

/** Width and height of a match, in points. */
const WIDTH = 200;
const HEIGHT = 44;

export function Bracket({ drawing }: { drawing: Drawing }) {
  const { title, width, height, places, connections } = drawing;
  return (
    <main class="hall bracket">
      <h1>{visible(title)}</h1>
      <svg viewBox={`-2 0 ${width + 4} ${height}`} role="img" aria-label={`bracket: ${visible(title)}`}>
        {connections.map((points) => (
          <polyline key={points} points={points} />
        ))}
        {places.map(({ x, y, match, text, heavy }, number) =>
          match ? (
            <g key={number} class="match" transform={`translate(${x} ${y})`}>
              <rect width={WIDTH} height={HEIGHT} rx="4" />
              {match.lines.map((line, row) => (
                <g key={row} class={line.won ? "won" : line.lost ? "lost" : ""}>
                  {line.seed !== null && (
                    <>
                      <text x="24" y={16 + 22 * row} class="small end">
                        {line.seed}
                      </text>
                      <text x="32" y={16 + 22 * row}>
                        {cut(visible(line.name), 18)}
                      </text>
                    </>
                  )}
                  {line.points !== null && (
                    <text x={WIDTH - 8} y={16 + 22 * row} class="end">
                      {line.points}
                    </text>
                  )}
                </g>
              ))}
              <text x={WIDTH} y="-4" class="small end">
                {match.decision}
              </text>
            </g>
          ) : (
            <text key={number} x={x} y={y} class={heavy ? "won" : ""}>
              {text}
            </text>
          ),
        )}
      </svg>
    </main>
  );
}
