// What was done last, so that the board can mark it.

import type { BoardProps } from "./painter";
import { type Step, rulings } from "../match";
import type { Json } from "../patch";
import type { Key } from "./pick";

/** The places in this step's answers; none if one was refused. */
export function last(step: Step, targets: (answer: Json) => Key[]): Set<Key> {
  if (rulings(step.line).length > 0) return new Set();
  return new Set(
    Object.values(step.line.answers ?? {}).flatMap((answer) =>
      answer && typeof answer === "object" ? targets(answer) : [],
    ),
  );
}

/** The view one step earlier. */
export function earlier({ match, step, seat }: BoardProps): Json | undefined {
  const before = match.steps[match.steps.indexOf(step) - 1];
  return seat === null || !before?.seats ? before?.view : before.seats[seat];
}
