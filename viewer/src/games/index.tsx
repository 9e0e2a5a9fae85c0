// A painter a game. It draws what the game's view says and knows no rule.

import type { ComponentChildren, FunctionComponent } from "preact";
import type { Match, Step } from "../match";
import type { Json } from "../patch";
import * as aiarena21 from "./aiarena21";
import * as aibg5 from "./aibg5";
import * as cardgame from "./cardgame";
import * as connectfour from "./connectfour";
import type { Key, Pick } from "./pick";
import * as plain from "./plain";
import * as quoridor from "./quoridor";
import * as reantics from "./reantics";
import * as tictactoe from "./tictactoe";

export interface BoardProps {
  /** Everything, or what `seat` sees. */
  view: Json;
  step: Step;
  match: Match;
  seat: number | null;
  children?: ComponentChildren;
  /** Where a person may click for their answer. */
  pick?: Pick | undefined;
}

/** A sign of a board, drawn around the middle, within 13 of it. */
export interface Sign {
  drawing: ComponentChildren;
  meaning: string;
}

export interface Painter {
  Board: FunctionComponent<BoardProps>;
  /** What its signs mean, where they do not say it themselves. */
  legend?: Sign[];
  /** The seats' scores, where the view of everything shows them. */
  scores?: (view: Json) => number[] | undefined;
  /** What they count; "score" if left out. */
  scoreName?: string;
  /** The clicks that make a legal answer. */
  targets?: (answer: Json, view: Json, method: string) => Key[];
  /** The answer that one click makes where there are too many to list. */
  tried?: (key: Key) => Json;
  /** The places that may be clicked then. */
  places?: (view: Json, method: string) => Key[];
  /** What was captured, wholly or in part, between two views of everything, in words. */
  captured?: (view: Json, before: Json) => string[];
  /** What can be counted for each seat, for conditions to pause at. */
  measures?: Record<string, (view: Json) => (number | undefined)[]>;
}

const PAINTERS: Record<string, Painter> = { aiarena21, aibg5, cardgame, connectfour, quoridor, reantics, tictactoe };

/** A game without a painter of its own shows its drawing. */
export function painter(game: string): Painter {
  return PAINTERS[game] ?? plain;
}
