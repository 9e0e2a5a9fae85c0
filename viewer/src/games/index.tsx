// One painter for each game. It draws the game's view and knows no rules.

import * as aiarena21 from "./aiarena21";
import * as aibg5 from "./aibg5";
import { brought } from "./brought";
import * as cardgame from "./cardgame";
import * as connectfour from "./connectfour";
import * as declared from "./declared";
import type { Painter } from "./painter";
import * as quoridor from "./quoridor";
import * as reantics from "./reantics";
import * as tictactoe from "./tictactoe";

const PAINTERS: Record<string, Painter> = { aiarena21, aibg5, cardgame, connectfour, quoridor, reantics, tictactoe };

/** Returns a game's painter: ours, or that of its package. Games without one show the board that they declare. */
export function painter(game: string): Painter {
  return PAINTERS[game] ?? brought(game) ?? declared;
}
