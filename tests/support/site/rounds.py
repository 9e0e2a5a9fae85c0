"""Rock, paper, scissors over several rounds: both seats are asked at once, and a fault costs a round, not the match.

It is installed next to the referee, like any other package's game:
its folder is on the path, and an entry point names it.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from referee.games.contract import Event, Fault, Method, Notice, Player, Ruling, Setup, State, draw, win
from referee.games.game import Game, TimeControl

Throw = Literal["rock", "paper", "scissors"]
THROWS: tuple[Throw, ...] = ("rock", "paper", "scissors")


class Shown(Struct, frozen=True):
    round: int
    padding: str


class Round(Struct, frozen=True):
    throws: list[Throw | None]
    number: Annotated[int, Meta(description="of this notice, among those of its round")] = 0


class Over(Struct, frozen=True):
    points: tuple[int, int]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    rounds: int = 3
    padding: int = 0
    """Bytes added to each call."""
    notices: int = 1
    """How many notices of each round a seat gets."""
    turns: bool = False
    """The seats are asked one after the other instead of at once."""


THROW = Method("throw", Shown, Throw, "Your throw.")
ROUND = Method("round", Round, None, "What both threw.")
OVER = Method("over", Over, type(None), "The match is over.", accepts=Any, time_s=0.5)
METHODS = {method.name: method for method in (THROW, ROUND, OVER)}
BOTH = (0, 1)


class Rounds(State):
    """The points so far; nothing else lasts from round to round."""

    METHODS = METHODS

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.points = [0, 0]
        self.round = 0
        self.thrown: dict[Player, Throw | None] = {}
        self._await_throws()

    def params(self, player: Player) -> Shown | Over:
        if self.result is not None:
            return Over((self.points[0], self.points[1]))
        return Shown(self.round, "." * self.setup.options.padding)

    def refusal(self, player: Player, answer: Any) -> str | None:
        return None

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        faults: list[Event] = [
            Ruling(player, answer, "loses the round" if self.result is None else "none")
            for player, answer in answers.items()
            if isinstance(answer, Fault)
        ]
        if self.result is not None:
            self.awaited = {}
            return faults
        self.thrown |= {player: None if isinstance(answer, Fault) else answer for player, answer in answers.items()}
        if len(self.thrown) < 2:
            self.awaited = {1: THROW}
            return faults
        return faults + self._played()

    def stop(self, reason: str) -> list[Event]:
        self._end(reason)
        return [Notice("round", Round([]), BOTH)]

    def _legal(self, player: Player) -> Iterator[Throw]:
        yield from THROWS

    def _view(self, player: Player) -> Over:
        return self._full_view()

    def _full_view(self) -> Over:
        return Over((self.points[0], self.points[1]))

    def key(self) -> bytes:
        return f"{self.round} {self.points} {self.thrown} {self.result} {sorted(self.awaited)}".encode()

    def __str__(self) -> str:
        return f"round {self.round}: {self.points[0]} to {self.points[1]}"

    def _played(self) -> list[Event]:
        throws = [self.thrown[0], self.thrown[1]]
        winner = _winner(throws)
        if winner is not None:
            self.points[winner] += 1
        self.round += 1
        self._await_throws()
        if self.round == self.setup.options.rounds:
            self._end("all rounds are played")
        return [Notice("round", Round(throws, number), BOTH) for number in range(self.setup.options.notices)]

    def _await_throws(self) -> None:
        self.thrown = {}
        self.awaited = {0: THROW} if self.setup.options.turns else {0: THROW, 1: THROW}

    def _end(self, reason: str) -> None:
        ours, theirs = self.points
        self.result = draw(reason) if ours == theirs else win(0 if ours > theirs else 1, reason)
        self.awaited = {0: OVER, 1: OVER}


def _winner(throws: list[Throw | None]) -> Player | None:
    """A throw beats the one before it in the list; any throw beats none."""
    ours, theirs = throws
    if ours is None or theirs is None:
        return None if ours is theirs else int(ours is None)
    return (None, 0, 1)[(THROWS.index(ours) - THROWS.index(theirs)) % 3]


GAME = Game(
    name="rounds",
    title="Rounds",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=5.0),
    new=Rounds,
)
