// The pieces of AI Arena 21, around the centre of a cell of 20.

import { memo } from "../memo";

export const Sprites = memo(() => (
  <defs>
    <g id="onion">
      <path class="stalk" d="M0-5q-1-3-3-4M0-5q0-3 1-4M0-5q2-2 4-3" />
      <path class="onion" d="M0-6q1 3 5 5q4 4 0 8q-5 2-10 0q-4-4 0-8q4-2 5-5z" />
      <path class="rings" d="M0-5q-4 6-1 12M0-5q4 6 1 12" />
    </g>
    <g id="strawberry">
      <path class="strawberry" d="M-7-3q7-5 14 0q1 6-7 11q-8-5-7-11z" />
      <path class="seeds" d="M-3 0v.1M3 0v.1M0 3v.1M-3 4v.1M3 4v.1" />
      <path class="leaf" d="M-6-4l3-2 1-2 2 1 2-1 1 2 3 2-4 1-2 2-2-2z" />
    </g>
    <g id="dragon-fruit">
      <path class="scales" d="M0-5l-4-5M0-5l4-5M0-6v-4M-6-1l-3-4M6-1l3-4M-6 4l-3-2M6 4l3-2" />
      <path class="spikes" d="M0-7q7 1 7 7q0 7-7 9q-7-2-7-9q0-6 7-7z" />
      <ellipse class="flesh" cy={1} rx={4.2} ry={4.8} />
      <path class="pips" d="M-1.5-1v.1M1.5 0v.1M-.5 3v.1" />
    </g>
    <g id="runner">
      <ellipse class="shadow" cy={9} rx={9} ry={3} />
      <path class="arms" d="M-6 0l-4 4M6 0l4 4M-3 7v3M3 7v3M0-12v-4" />
      <circle class="bulb" cy={-16} r={2} />
      <rect class="suit" x={-6.5} y={-3} width={13} height={11} rx={3} />
      <rect class="suit" x={-7.5} y={-13} width={15} height={10.5} rx={4.5} />
      <path class="pupils" d="M-3-8v.1M3-8v.1" />
      <path class="smile" d="M-2-5.3q2 1.5 4 0" />
    </g>
    <g id="bike">
      <circle class="wheel" cx={-9} cy={8} r={5} />
      <circle class="wheel" cx={9} cy={8} r={5} />
      <path class="frame" d="M-9 8l4-6h9l5 6M-5 2l4 6h-8M4 2l2-5h3" />
    </g>
    <g id="portal-gun">
      <path class="gun" d="M5 0h10l2 2-2 2.5h-5l-1 4h-3z" />
      <circle class="beam" cx={17} cy={2} r={2.4} />
    </g>
    <circle id="portal" class="portal" r={11} />
  </defs>
));
