// Prints before it plays, or uses the kit without playing.

import { run, TicTacToeBot } from "referee-kit/tictactoe";

class Prints extends TicTacToeBot {}

if (process.env.ONLY_USES_THE_KIT || process.env.AT_ONCE) console.log("buffered+ at once");
if (!process.env.ONLY_USES_THE_KIT) run(Prints);
