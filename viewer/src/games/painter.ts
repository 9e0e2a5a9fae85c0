// What draws a game: its board, and what else the page knows about its views and answers.

import type { ComponentChildren, FunctionComponent } from "preact";
import type { Match, Step } from "../match";
import type { Json } from "../patch";
import type { Key, Pick } from "./pick";

export interface BoardProps {
  /** Everything, or what `seat` sees. */
  view: Json;
  step: Step;
  match: Match;
  seat: number | null;
  children?: ComponentChildren;
  /** Where a person may click to answer. */
  pick?: Pick | undefined;
}

/** A sign of a board, drawn around the centre within a radius of 13. */
export interface Sign {
  drawing: ComponentChildren;
  meaning: string;
}

export interface Painter {
  Board: FunctionComponent<BoardProps>;
  /** The meaning of signs that are not self-explanatory. */
  legend?: Sign[];
  /** The seats' scores, if the view of everything has them. */
  scores?: (view: Json) => number[] | undefined;
  /** What the scores count; default "score". */
  scoreName?: string;
  /** The clicks for a legal answer. */
  targets?: (answer: Json, view: Json, method: string) => Key[];
  /** The answer of one click, where there are too many answers to list. */
  tried?: (key: Key) => Json;
  /** Tells whether the clicks of an answer may come in any order. */
  unordered?: (method: string) => boolean;
  /** What the next click sets, in words; undefined if the board says it. */
  sets?: (view: Json, method: string) => string | undefined;
  /** The places that can be clicked in that case. */
  places?: (view: Json, method: string) => Key[];
  /** In words, what was captured or partly captured between two views of everything. */
  captured?: (view: Json, before: Json) => string[];
  /** The round of a position, from 0, where a round has several turns. */
  round?: (view: Json) => number;
  /** Numbers for each seat, for conditions to pause at. */
  measures?: Record<string, (view: Json) => (number | undefined)[]>;
}
