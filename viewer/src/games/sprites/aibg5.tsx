// The pieces of AIBG 5, around the centre of a hexagon with a radius of 12. Ships look up.

import { memo } from "../memo";

export const Sprites = memo(() => (
  <defs>
    <g id="asteroid">
      <path class="rock" d="M-8.5-1l2-6 6-2.5 7 3 2.5 6.5-4 7-7 1.5-5.5-4z" />
      <path class="craters" d="M-3-4a2 2 0 1 0 .1 0zM3 1a2.5 2.5 0 1 0 .1 0zM-4 3a1.2 1.2 0 1 0 .1 0z" />
    </g>
    <g id="blackhole">
      <circle class="halo" r={9} />
      <circle class="void" r={6} />
      <ellipse class="disc" rx={10.5} ry={3.2} transform="rotate(-24)" />
    </g>
    <g id="wormhole">
      <circle class="swirl" r={9.5} />
      <path class="swirl thin" d="M-7 0a7 7 0 0 1 13-3a5.5 5.5 0 0 1-6 8a4 4 0 0 1-3-6" />
    </g>
    <g id="health">
      <circle class="glow" r={9} />
      <path class="cross" d="M-2.5-7h5v4.5h4.5v5h-4.5v4.5h-5v-4.5h-4.5v-5h4.5z" />
    </g>
    <g id="experience">
      <circle class="glow" r={9} />
      <path class="star" d="M0-8.5l2.5 5.3 5.7.7-4.2 4 1.1 5.7-5.1-2.8-5.1 2.8 1.1-5.7-4.2-4 5.7-.7z" />
    </g>
    <g id="boss">
      <path
        class="spines"
        d="M0-34l6 12 13-9-1 15 15-1-8 12 12 6-13 6 6 13-14-2-2 15-11-9-9 12-5-13-14 5 3-14-14-4 11-9-9-11 15-1-2-14 13 8z"
      />
      <circle class="hide" r={21} />
      <ellipse class="eyeball" rx={14} ry={9.5} />
      <circle class="iris" r={7} />
      <ellipse class="void" rx={2.2} ry={6} />
      <path class="brow" d="M-17-8q17-11 34 0" />
    </g>
    <g id="ship">
      <path class="flame" d="M-2.5 7l2.5 6 2.5-6z" />
      <path class="hull" d="M0-11q4 4 4 9l5 6v4l-5-1.5-2 2h-4l-2-2-5 1.5v-4l5-6q0-5 4-9z" />
    </g>
  </defs>
));
