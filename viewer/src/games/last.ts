// What was done last, so that the board can mark it.

import { type Frames, type Step, rulings } from "../match";
import type { Key } from "./pick";

/** The places in this step's answers; none if one was refused. */
export function last<F extends Frames>(step: Step<F>, targets: (answer: F["answer"]) => Key[]): Set<Key> {
  if (rulings(step.line).length > 0) return new Set();
  return new Set(Object.values(step.line.answers ?? {}).flatMap(targets));
}
