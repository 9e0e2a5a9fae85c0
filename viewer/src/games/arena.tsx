// What the Arena's games share: their answers, and the flipped table.

import type { Step } from "../match";
import type { Json } from "../patch";
import type { Key } from "./pick";

/** The place in that member of the answer, or an action without a place. */
export const puts =
  (place: string) =>
  (answer: Json): Key[] => {
    const members = answer as Record<string, string>;
    return [members[place] ?? `!${members.action}`];
  };

/** The winning cells. */
export function winners({ marks }: Step): Set<Key> {
  return new Set((marks.won as Key[] | undefined) ?? []);
}

/** The side whose move was invalid: its rival may flip the table. */
export function Pending({ step, side, x, y }: { step: Step; side: string | null; x: number; y: number }) {
  if (!side) return null;
  return (
    <text class="pending" x={x} y={y}>
      seat {"0" in step.awaited ? 1 : 0} broke the rules: ┻━┻
    </text>
  );
}
