// The pictures of the card game's cards, around the centre.

const WOLF = "M-9-10l5 4h8l5-4-1 9-3 5-5 6-5-6-3-5zM-4-1l2 2M4-1l-2 2M-1 6h2";
const PAW =
  "M-5 2q5-5 10 0q3 6-2 6q-3-2-6 0q-5 0-2-6zM-8-3a2 2 0 1 0 .1 0M-3-7a2 2.5 0 1 0 .1 0M3-7a2 2.5 0 1 0 .1 0M8-3a2 2 0 1 0 .1 0";
const DINOSAUR = "M-11 9q0-9 8-9q3 0 4-6q1-5 6-4l3 3-1 1-4 1q0 9-4 14h-3l-1-4h-3l-1 4zM6-7v.1";
const AIM = "M0-8a8 8 0 1 0 .1 0zM0-12v8M0 4v8M-12 0h8M4 0h8";
const FLAME = "M0-11q8 7 7 14q-1 8-7 8q-7 0-7-8q0-4 3-6q0 4 2 4q4-4 2-12z";
const CLAWS = "M-8 9q4-8 3-18M-1 10q4-9 3-19M6 9q4-8 3-16";

/** By card: moles dig, cobras bite, and so on. */
const PICTURES = [
  "M-10 6q0-13 10-13q10 0 10 13zM-3 1v.1M3 1v.1M-2 3q2 2 4 0M-12 9h24",
  "M-3 10q10-2 4-9q-8-5-5-10q3-4 7-1q4 4-1 8q6 4 6 8q0 6-11 4zM2-8v.1M5-10l4-2",
  AIM,
  "M-10 10l16-16M-1-10h11v11M-10 10l1-6M-10 10l6-1",
  "M-7 2a7 9 0 0 1 14 0q0 8-7 8q-7 0-7-8zM-7 1l4 3 3-4 3 4 4-3",
  "M-11 6q-1-9 6-10l-2-8 7 6q8 1 11 9l-4 5h-12zM1-1v.1",
  "M-11-4l20-3 2 4-4 4-3-3-3 4-3-3-3 4-3-3-3 3zM-11 7l18 1 4-4",
  WOLF,
  CLAWS,
  FLAME,
  DINOSAUR,
  PAW,
  AIM,
  WOLF,
  "M0-11l4 4 6-2-2 6 3 5-6 1-2 6-3-2-3 2-2-6-6-1 3-5-2-6 6 2zM-3-1v.1M3-1v.1M-1 3h2",
  PAW,
  WOLF,
];

export function Art({ id }: { id: number }) {
  return (
    <svg
      class="art"
      viewBox="-14 -14 28 28"
      aria-hidden="true"
      style={{ background: `hsl(${(id * 67 + 20) % 360} 45% 62%)` }}
    >
      <path d={PICTURES[id] ?? PAW} />
    </svg>
  );
}
