// What the Arena's games have in common: their answers, and the table that may be flipped.

import type { Step } from "../match";
import type { Json } from "../patch";
import type { Key } from "./pick";

/** Where something is put, which that member says; or an action that needs no place. */
export const puts = (place: string) => (answer: Json): Key[] => {
  const members = answer as Record<string, string>;
  return [members[place] ?? `!${members.action}`];
};

/** The cells that have won. */
export function winners({ marks }: Step): Set<Key> {
  return new Set((marks.won as Key[] | undefined) ?? []);
}

/** Whose move was invalid: the rival may flip the table now. */
export function Pending({ side, x, y }: { side: string | null; x: number; y: number }) {
  if (!side) return null;
  return (
    <text class="pending" x={x} y={y}>
      {side} broke the rules: ┻━┻
    </text>
  );
}
