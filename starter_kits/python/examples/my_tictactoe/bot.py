"""A bot to fill in. It plays random legal moves as it stands, and does not see when it should flip the table; make it
win. The kit seeds `random`: the same match gives the same luck."""

import random

from referee_kit.tictactoe import CELLS, Action, ArenaEvent, TicTacToeBot, run


class MyBot(TicTacToeBot):
    def __init__(self) -> None:
        self.taken: set[str] = set()

    def event(self, event: ArenaEvent) -> None:
        """Every move comes here, your own too. A rival may send anything: look before you trust `position`."""
        if event.player and event.action == "putSymbol" and event.position in CELLS:
            self.taken.add(event.position)

    def play(self, id: str) -> Action:
        # After an invalid move of the rival, flip the table and win: import FLIP, and return Action(FLIP)
        empty = [cell for cell in CELLS if cell not in self.taken]
        return Action("putSymbol", random.choice(empty))


if __name__ == "__main__":
    run(MyBot)
