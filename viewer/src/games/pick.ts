// Answers by clicks: each legal answer is a sequence of clicks, and each click narrows them down.

import type { Choice } from "../match";
import type { Json } from "../patch";

/** The target of a click: the name of a place on the board, or "!" and the text of a button. */
export type Key = string;

export interface Pick {
  /** The places that may be clicked next. */
  keys: Set<Key>;
  chosen: Key[];
  click: (key: Key) => void;
}

/** A legal answer with its clicks. */
export interface Way {
  answer: Json;
  keys: Key[];
  words: string;
}

/** All ways to answer; the first of those with the same clicks. With `unordered`, two clicks count in both orders. */
export function ways(
  choice: Choice,
  targets: (answer: Json, view: Json, method: string) => Key[],
  unordered = false,
): Way[] {
  const found = new Map<string, Way>();
  (choice.answers ?? []).forEach((answer, index) => {
    const keys = choice.clicks?.[index] ?? targets(answer, choice.view, choice.method);
    const name = keys.join("\n");
    const words = choice.words?.[index] ?? keys.map((key) => key.replace(/^!/, "")).join(" ");
    if (!found.has(name)) found.set(name, { answer, keys, words });
    const turned = keys.toReversed();
    const other = turned.join("\n");
    if (unordered && keys.length === 2 && !found.has(other)) found.set(other, { answer, keys: turned, words });
  });
  return [...found.values()];
}

/** The ways that start with the clicks so far. */
export function left(all: Way[], chosen: Key[]): Way[] {
  return all.filter((way) => chosen.every((key, index) => way.keys[index] === key));
}

/** What may be clicked next. */
export function next(rest: Way[], chosen: Key[]): Set<Key> {
  return new Set(rest.flatMap((way) => way.keys.slice(chosen.length, chosen.length + 1)));
}

/** Properties of a part of a drawing that can be clicked or was. */
export function hot(pick: Pick | undefined, key: Key, label: string) {
  if (!pick || !(pick.keys.has(key) || pick.chosen.includes(key))) return undefined;
  const click = () => pick.click(key);
  return {
    class: `target ${pick.chosen.includes(key) ? "chosen" : ""}`,
    role: "button" as const,
    tabIndex: 0,
    "aria-label": `choose ${label}`,
    "data-key": key,
    onClick: click,
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      click();
    },
  };
}
