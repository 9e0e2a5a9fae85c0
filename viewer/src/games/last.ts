// What was answered last, for a mark on the board: nobody finds one wall of sixteen by looking.

import { type Step, rulings } from "../match";
import type { Json } from "../patch";
import type { Key } from "./pick";

/** The places that the answers of this step name; none where one was refused. */
export function last(step: Step, targets: (answer: Json) => Key[]): Set<Key> {
  if (rulings(step.line).length > 0) return new Set();
  return new Set(Object.values(step.line.answers ?? {}).flatMap((answer) => (answer && typeof answer === "object" ? targets(answer) : [])));
}
