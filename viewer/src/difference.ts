// Where two matches of a game first differ.

import { type Match, rulings } from "./match";
import type { Json } from "./patch";

export interface Differences {
  /** The first step with another answer, fault or length; undefined if there is none. */
  answers: number | undefined;
  /** The first step with another position; undefined if there is none. */
  positions: number | undefined;
}

/** Members of a view that are not on the board. */
const BESIDES = ["luck", "result"];

export function differences(one: Match, other: Match): Differences {
  const found: Differences = { answers: undefined, positions: undefined };
  const length = Math.min(one.steps.length, other.steps.length);
  const alike = (left: unknown, right: unknown) =>
    equal(left as Json, right as Json, one.about.names, other.about.names);
  for (let at = 0; at < length; at++) {
    const [left, right] = [one.steps[at]!, other.steps[at]!];
    const same =
      alike(left.line.answers ?? {}, right.line.answers ?? {}) && alike(faults(left.line), faults(right.line));
    if (!same) found.answers ??= at;
    if (!alike(board(left.view), board(right.view)) || !alike(left.text, right.text)) found.positions ??= at;
    if (found.answers !== undefined && found.positions !== undefined) return found;
  }
  if (one.steps.length !== other.steps.length) found.answers ??= length;
  return found;
}

function faults(line: Match["steps"][number]["line"]): Json {
  return rulings(line).map(({ player, fault }) => [player!, fault!.kind]);
}

function board(view: Json): Json {
  if (view === null || typeof view !== "object" || Array.isArray(view)) return view;
  return Object.fromEntries(Object.entries(view).filter(([name]) => !BESIDES.includes(name)));
}

/** Whether two values are equal. The name of a seat equals the other match's name of that seat. */
function equal(left: Json | undefined, right: Json | undefined, names: string[], others: string[]): boolean {
  if (left === right) return true;
  if (typeof left === "string")
    return typeof right === "string" && names.some((name, seat) => name === left && others[seat] === right);
  if (typeof left !== "object" || typeof right !== "object" || !left || !right) return false;
  const [keys, more] = [Object.keys(left), Object.keys(right)];
  if (keys.length !== more.length || Array.isArray(left) !== Array.isArray(right)) return false;
  const [one, other] = [left as Record<string, Json>, right as Record<string, Json>];
  return keys.every((key) => key in other && equal(one[key], other[key], names, others));
}
