"""Prints before it plays, or uses the kit without playing."""

import os

from referee_kit.tictactoe import TicTacToeBot, run


class Prints(TicTacToeBot):
    pass


print("buffered", end="")
if "AT_ONCE" in os.environ:
    print("+ at once", flush=True)
if "ONLY_USES_THE_KIT" not in os.environ:
    run(Prints)
