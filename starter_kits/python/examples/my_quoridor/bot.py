"""A bot to fill in. It plays random legal moves of its pawn as it stands, puts no wall and does not see when to flip
the table; make it win. The kit seeds `random`: the same match gives the same luck."""

import random

from referee_kit.quoridor import Action, ArenaEvent, QuoridorBot, run

SIDES = ["first", "second"]
SQUARES = [column + row for row in "123456789" for column in "abcdefghi"]  # a1 = 0, b1 = 1, a2 = 9
UP, RIGHT, DOWN, LEFT = 9, 1, -9, -1  # what a step adds to a square
NOWHERE = -1


class MyBot(QuoridorBot):
    def __init__(self) -> None:
        self.me = 0  # first is 0, second is 1
        self.pawns = [SQUARES.index("e1"), SQUARES.index("e9")]
        self.up = [square < 72 for square in range(81)]  # whether the step up, or right, from a square is open
        self.right = [square % 9 < 8 for square in range(81)]

    def event(self, event: ArenaEvent) -> None:
        """Every answer comes here, your own too. A rival may send anything: look before you trust `position`."""
        if event.player is None:
            if event.you_are is not None:
                self.me = SIDES.index(event.you_are)
        elif event.action == "move" and event.position in SQUARES:
            self.pawns[SIDES.index(event.player)] = SQUARES.index(event.position)
        elif event.action == "putWall" and isinstance(event.position, str) and event.position[:2] in SQUARES[:72]:
            square = SQUARES.index(event.position[:2])
            if event.position[2:] == "h":
                self.up[square] = self.up[square + 1] = False
            else:
                self.right[square] = self.right[square + 9] = False

    def play(self, id: str) -> Action:
        # A wall: Action("putWall", "e3h")
        # After an invalid answer of the rival, flip the table and win: import FLIP, and return Action(FLIP)
        return Action("move", SQUARES[random.choice(self.targets())])

    def targets(self) -> list[int]:
        """The squares that your pawn may move to: one step on, or past the rival's pawn."""
        own, rival = self.pawns[self.me], self.pawns[1 - self.me]
        found = []
        for step in (UP, RIGHT, DOWN, LEFT):
            target = self.beside(own, step)
            if target == rival:
                target = self.beside(rival, step)  # the jump
                if target == NOWHERE:  # to the sides then
                    aside = RIGHT if step in (UP, DOWN) else UP
                    found += [self.beside(rival, aside), self.beside(rival, -aside)]
            found.append(target)
        return [target for target in found if target != NOWHERE]

    def beside(self, square: int, step: int) -> int:
        """The square one step on; NOWHERE behind a wall or the edge."""
        lower = min(square, square + step)
        steps = self.up if step in (UP, DOWN) else self.right
        return square + step if lower >= 0 and steps[lower] else NOWHERE


if __name__ == "__main__":
    run(MyBot)
