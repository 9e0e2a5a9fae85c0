// What was done last, for a mark on the board: nobody finds one wall of sixteen by looking.

import type { BoardProps } from ".";
import { type Step, rulings } from "../match";
import type { Json } from "../patch";
import type { Key } from "./pick";

/** The places that the answers of this step name; none where one was refused. */
export function last(step: Step, targets: (answer: Json) => Key[]): Set<Key> {
  if (rulings(step.line).length > 0) return new Set();
  return new Set(Object.values(step.line.answers ?? {}).flatMap((answer) => (answer && typeof answer === "object" ? targets(answer) : [])));
}

/** What was shown one step before, for a game whose answers do not say it in the terms of what is shown. */
export function earlier({ match, step, seat }: BoardProps): Json | undefined {
  const before = match.steps[match.steps.indexOf(step) - 1];
  return seat === null || !before?.seats ? before?.view : before.seats[seat];
}
