"""A bot to fill in. It plays random legal moves as it stands, and does not see when it should flip the table; make it
win. The kit seeds `random`: the same match gives the same luck."""

import random

from referee_kit.connectfour import COLUMNS, ROWS, Action, ArenaEvent, ConnectFourBot, run


class MyBot(ConnectFourBot):
    def __init__(self) -> None:
        self.room = dict.fromkeys(COLUMNS, ROWS)

    def event(self, event: ArenaEvent) -> None:
        """Every move comes here, your own too. A rival may send anything: look before you trust `column`."""
        if event.player and event.action == "putToken" and event.column in COLUMNS:
            self.room[event.column] -= 1

    def play(self, id: str) -> Action:
        # After an invalid move of the rival, flip the table and win: import FLIP, and return Action(FLIP)
        return Action("putToken", random.choice([column for column in COLUMNS if self.room[column] > 0]))


if __name__ == "__main__":
    run(MyBot)
