// What draws a game: its board, and what else the page knows about its views and answers.

import type { ComponentChild, ComponentChildren } from "preact";
import type { Frames, Look, Match, Step } from "../match";
import type { Declared } from "./layout";
import type { Json } from "../patch";
import type { Key, Pick } from "./pick";

/** What is drawn: everything, or what a seat sees. */
export type BoardProps<F extends Frames = Frames> = Look<F> & {
  step: Step<F>;
  match: Match;
  children?: ComponentChildren;
  /** The declared board, if it is not that of the step. */
  board?: Declared | null;
  /** Where a person may click to answer. */
  pick?: Pick | undefined;
  /** The milliseconds in which pieces may move into this position. 0 or missing: no movement. */
  motion?: number | undefined;
};

/** A sign of a board, drawn around the centre within a radius of 13. */
export interface Sign {
  drawing: ComponentChildren;
  meaning: string;
}

/**
 * Draws a game from its own frames. The page only hands it frames of that game, so a painter of one game counts as one
 * of any: its members are methods, whose parameters TypeScript compares in both directions.
 */
export interface Painter<F extends Frames = Frames> {
  Board(props: BoardProps<F>): ComponentChild;
  /** The meaning of signs that are not self-explanatory. */
  legend?: Sign[];
  /** The seats' scores, if the view of everything has them. */
  scores?(view: F["everything"]): number[] | undefined;
  /** What the scores count; default "score". */
  scoreName?: string;
  /** The clicks for a legal answer. */
  targets?(answer: F["answer"], view: F["seen"], method: string): Key[];
  /** The answer of one click, where there are too many answers to list. */
  tried?(key: Key): Json;
  /** Tells whether the clicks of an answer may come in any order. */
  unordered?(method: string): boolean;
  /** What the next click sets, in words; undefined if the board says it. */
  sets?(view: F["seen"], method: string): string | undefined;
  /** The places that can be clicked in that case. */
  places?(view: F["seen"], method: string): Key[];
  /** The round of a position, from 0, where a round has several turns. */
  round?(view: F["everything"]): number;
  /** Tells whether a step shows nothing on the board; playing hurries past it. */
  quiet?(step: Step<F>): boolean;
  /** By name, a number for each seat, for conditions to pause at. */
  measures?(view: F["everything"]): Record<string, (number | undefined)[]>;
}
