// Hexapawn: pawns against pawns on three rows. Change it into a game of your own.
//
// A pawn moves a step forward to a free square, or a step diagonally forward to take. A player wins by reaching the far
// row, or if the other one cannot move.

import { run } from "referee-kit/rules";
import { Hexapawn } from "./hexapawn.js";

run(Hexapawn);
