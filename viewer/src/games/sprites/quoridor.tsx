// The pieces of Quoridor, around the centre of a square of 40.

import { memo } from "../memo";

export const Sprites = memo(() => (
  <defs>
    <g id="pawn">
      <ellipse class="shadow" cy={14} rx={13} ry={4} />
      <path class="turned" d="M-11 13q0-5 6-7q3-4 2-9h6q-1 5 2 9q6 2 6 7q-11 4-22 0z" />
      <circle class="turned" cy={-8} r={7.5} />
      <path class="shine" d="M-4-10q1-3 4-3" />
    </g>
  </defs>
));
