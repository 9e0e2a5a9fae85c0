// What the Arena's games share: their answers, and the flipped table.

import type { Frames, Step } from "../match";
import type { Key } from "./pick";

/** The marks of these games: the winning cells. */
export interface Won {
  marks: { won?: Key[] };
}

/** The place in that member of the answer, or an action without a place. */
export function puts<Place extends string>(place: Place) {
  return (answer: { action: string } & Partial<Record<Place, string>>): Key[] => [answer[place] ?? `!${answer.action}`];
}

/** The winning cells. */
export function winners({ marks }: Step<Frames & Won>): Set<Key> {
  return new Set(marks.won ?? []);
}

/** The side whose move was invalid: its rival may flip the table. */
export function Pending({ step, side, x, y }: { step: Step<Frames>; side: string | null; x: number; y: number }) {
  if (!side) return null;
  return (
    <text class="pending" x={x} y={y}>
      seat {"0" in step.awaited ? 1 : 0} broke the rules: ┻━┻
    </text>
  );
}
