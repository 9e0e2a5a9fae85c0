// The pieces of ReAntics. Ants look up, around the centre; what is built fills a tile of 48.

import { memo } from "../memo";

const LEGS = "M-3-5l-8-6-3 4M-4-1h-9l-4 5M-3 2l-8 6-2 7M3-5l8-6 3 4M4-1h9l4 5M3 2l8 6 2 7";
const FEELERS = "M-2-15q-1-5-6-6M2-15q1-5 6-6";

/** Legs, feelers and the three parts of a body. */
function ant(abdomen: [rx: number, ry: number], head: [rx: number, ry: number]) {
  return (
    <>
      <path class="limbs" d={LEGS + FEELERS} />
      <ellipse cy={10} rx={abdomen[0]} ry={abdomen[1]} />
      <ellipse cy={-2} rx={5} ry={5.4} />
      <ellipse cy={-12} rx={head[0]} ry={head[1]} />
      <path class="eyes" d="M-2.8-14v.1M2.8-14v.1" />
      <path class="shine" d="M-4 9q1-4 4-5" />
    </>
  );
}

export const Sprites = memo(() => (
  <defs>
    <g id="ant-0">
      {ant([9.5, 11.5], [6, 5.6])}
      <path class="bands" d="M-8 8q8 4 16 0M-8 13q8 4 16 0" />
      <path class="gold" d="M-6-15l-1.5-8 4.5 4 3-6 3 6 4.5-4-1.5 8z" />
    </g>
    <g id="ant-1">{ant([7, 8.5], [5.6, 5.2])}</g>
    <g id="ant-2">
      {ant([6, 9.5], [5.4, 5])}
      <path class="wings" d="M-2-3q-16 0-15 12q1 10 7 9q5-6 8-21zM2-3q16 0 15 12q-1 10-7 9q-5-6-8-21z" />
    </g>
    <g id="ant-3">
      <path class="jaws" d="M-4-16q-6-4-1-9M4-16q6-4 1-9" />
      {ant([7.4, 9.5], [8, 6.8])}
      <path class="bands" d="M-7 6q7 4 14 0M-7 11q7 4 14 0M-4-3h8M-6-11q6 3 12 0" />
    </g>
    <g id="ant-4">
      <path class="jaws" d="M0-15v-9" />
      <path class="acid" d="M0-21q4 4 0 7q-4-3 0-7z" />
      {ant([7.4, 9.5], [5.8, 5.2])}
      <circle class="acid" cy={13} r={4} />
    </g>
    <g id="anthill">
      <ellipse class="shadow" cx={24} cy={41} rx={22} ry={5} />
      <path class="mound" d="M3 41q3-22 13-30q8-5 16 0q10 8 13 30q-21 6-42 0z" />
      <path class="layers" d="M11 24q13 5 26 0M7 33q17 6 34 0" />
      <ellipse class="dark" cx={24} cy={12} rx={7.5} ry={3.6} />
      <path class="layers" d="M7 40V5" />
      <path class="flag" d="M7 4l14 4.5-14 5z" />
    </g>
    <g id="tunnel">
      <ellipse class="mound" cx={24} cy={27} rx={21} ry={16} />
      <ellipse class="flag" cx={24} cy={28} rx={16} ry={11} />
      <ellipse class="dark" cx={24} cy={29} rx={12.5} ry={8} />
      <path class="layers" d="M8 20l4 2M13 15l2 3M38 19l-4 3M33 14l-2 3" />
    </g>
    <g id="grass">
      <path
        class="blades deep"
        d="M6 43q-3-16 2-27q1 14 5 27zM20 43q1-22 8-36q0 18 1 36zM34 43q2-17 9-25q-4 13-3 25z"
      />
      <path class="blades" d="M12 43q-1-20 6-33q-1 18 3 33zM27 43q3-16 10-30q-3 15-2 30zM3 43q2-10 0-17q6 7 6 17z" />
    </g>
    <g id="food">
      <path class="layers" d="M24 20q0-5 2-8" />
      <path class="leaf" d="M26 16q1-8 9-8q0 8-9 8z" />
      <path class="apple" d="M24 20c-6-5-15-2-15 7s7 15 12 15q1 0 3-.8q2 .8 3 .8c5 0 12-6 12-15s-9-12-15-7z" />
      <path class="shine" d="M14 30q-1-5 3-7" />
    </g>
    <path id="heart" class="heart" d="M0 8.5C-11 1.5-11-8-4.6-8-1.8-8 0-6 0-4.6 0-6 1.8-8 4.6-8 11-8 11 1.5 0 8.5z" />
    <path id="shield" class="shield" d="M-8.5-9q8.5 0 8.5-1.5q0 1.5 8.5 1.5v8q0 7-8.5 10q-8.5-3-8.5-10z" />
  </defs>
));
