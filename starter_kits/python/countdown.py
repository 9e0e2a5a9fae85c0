"""The rules program that tests the kit: the game `countdown` of protocol/vectors/README.md."""

from collections.abc import Mapping
from typing import Any, TypedDict

from referee_kit.rules import Fault, InvalidOptions, Luck, Result, Rules, Turn, run


class Position(TypedDict):
    left: int
    mover: int


class Countdown(Rules[Position]):
    game = "countdown"

    def start(self, options: Any, seats: int, luck: Luck) -> Turn[Position]:
        left = options["from"]
        if not 0 <= left <= 1000:
            raise InvalidOptions(f"from is {left}; expected 0 to 1000")
        left = left or 10 + luck.seed % 10
        return self.asking({"left": left, "mover": 0}).notice("began", {"left": left})

    def step(self, position: Position, answers: Mapping[int, Any], luck: Luck) -> Turn[Position]:
        left, mover = position["left"], position["mover"]
        count = answers[mover]
        lost = Turn(position, text=f"{left} left")
        if isinstance(count, Fault):
            lost.result = won(1 - mover, count.kind)
            return lost.punish(mover)
        if not 1 <= count <= min(3, left):
            lost.result = won(1 - mover, "illegal")
            return lost.refuse(mover, f"cannot take {count} of {left}; expected 1 to {min(3, left)}")
        turn = self.asking({"left": left - count, "mover": 1 - mover})
        return turn.notice("taken", {"seat": mover, "count": count})

    def legal(self, position: Position, seat: int, most: int) -> list[int]:
        return list(range(1, min(3, position["left"]) + 1))[:most]

    def asking(self, position: Position) -> Turn[Position]:
        left, mover = position["left"], position["mover"]
        if left == 0:
            return Turn(position, text="0 left", result=won(1 - mover, "last"))
        return Turn(position, text=f"{left} left, seat {mover} to take").ask(mover, "take", {"left": left})


def won(winner: int, reason: str) -> Result:
    return Result([1, 2], [1, 0], reason) if winner == 0 else Result([2, 1], [0, 1], reason)


if __name__ == "__main__":
    run(Countdown)
