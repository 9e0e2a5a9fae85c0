"""`TurnGame`, tested with Pig: roll a die and add it, or hold; a 1 loses the points of the turn."""

import pickle
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Literal

import pytest
from msgspec import Struct

from referee.games.contract import Fault, FaultKind, Method, Player, Result, Ruling, Setup, win
from referee.games.dice import ScriptedDice
from referee.games.game import Game
from referee.games.turn_game import TurnGame

Choice = Literal["roll", "hold"]


class Table(Struct, frozen=True):
    points: tuple[int, ...]
    pending: int


class Pig(TurnGame):
    MOVE = Method("choose", Table, Choice, "Roll or hold.")
    points: list[int]
    pending: int

    def start(self) -> None:
        self.points, self.pending = [0, 0], 0

    def _legal(self, player: Player) -> Iterator[Choice]:
        yield from ("roll", "hold")

    def play(self, player: Player, move: Choice) -> Result | None:
        if move == "hold":
            self.points[player] += self.pending
            self.pending = 0
            return win(player, "20 points") if self.points[player] >= 20 else None
        roll = self.dice.below(6, "roll") + 1
        self.pending = self.pending + roll if roll > 1 else 0
        if roll > 1:
            self.give_turn(player)
        return None

    def _view(self, player: Player) -> Table:
        return Table(tuple(self.points), self.pending)

    def __str__(self) -> str:
        return f"{self.points} {self.pending}"


GAME: Game = Pig.game("pig", "Pig", doc="Pig.")


def new(seed: int = 1, *rolls: int) -> Pig:
    dice = ScriptedDice({"roll": [roll - 1 for roll in rolls]}) if rolls else None
    return Pig(Setup(seed, ("a", "b"), GAME.options()), dice)


def rolls(state: Pig, count: int = 30) -> list[str]:
    """The positions after rolling that often."""
    drawn = []
    for _ in range(count):
        (player,) = state.awaited
        state.apply({player: "roll"})
        drawn.append(str(state))
    return drawn


def test_seat_0_begins_and_the_turn_passes_unless_the_game_gives_it_again() -> None:
    state = new(1, 3, 1)
    state.apply({0: "roll"})
    assert list(state.awaited) == [0]
    state.apply({0: "roll"})
    assert list(state.awaited) == [1]
    assert state.view(1) == Table((0, 0), 0)


def test_a_copy_has_dice_and_members_of_its_own() -> None:
    state, other = new(), new()
    twin = state.copy()
    ahead = rolls(twin)
    assert (str(state), state.key()) == (str(other), other.key())
    assert rolls(state) == ahead
    state.points[0] = 7
    assert twin.points[0] == 0


def test_a_copy_honours_its_seed() -> None:
    state = new()
    assert rolls(state.copy(5)) == rolls(state.copy(5)) != rolls(state.copy(6))
    assert rolls(state.copy(5)) != rolls(state.copy())


def test_a_full_view_gives_the_position_again_with_its_luck() -> None:
    state = new()
    rolls(state, 3)
    view = state.view(None)
    again = GAME.position(state.setup, view)
    assert again.key() == state.key()
    assert rolls(again) == rolls(state)  # type: ignore[arg-type]
    assert view.points == [0, 0], "the view does not change with the position"
    assert pickle.loads(pickle.dumps(view)) == view


def test_the_key_has_the_position_the_turn_and_the_luck() -> None:
    keys = {new().key(), new(2).key(), new(1, 3).key()}
    assert len(keys) == 3
    moved = new()
    moved.give_turn(1)
    assert moved.key() not in keys


def test_a_move_that_ends_the_match_sets_the_result() -> None:
    state = new()
    state.pending = 20
    assert state.apply({0: "hold"}) == []
    assert state.result == win(0, "20 points")
    assert not state.awaited


@pytest.mark.parametrize("kind", [FaultKind.TIMEOUT, FaultKind.CRASH])
def test_a_fault_loses_and_a_fatal_one_takes_the_seat_out(kind: FaultKind) -> None:
    state, fault = new(), Fault(kind, "x")
    assert state.apply({0: fault}) == [Ruling(0, fault, "loses", fault.fatal)]
    assert state.result == win(1, kind.value)


def test_an_illegal_answer_is_refused_with_the_legal_ones() -> None:
    fault = new().check(0, "fold")
    assert fault is not None and fault.kind is FaultKind.ILLEGAL
    stricter = new()
    assert stricter.refusal(0, "fold") == '"fold" is not legal now; expected one of "roll", "hold"'


def test_a_seat_that_forfeits_loses_and_stopping_is_a_draw() -> None:
    state = new()
    state.forfeit({1: Fault(FaultKind.CRASH, "x")})
    assert state.result == win(0, "crash")
    stopped = new()
    stopped.stop("operator")
    assert stopped.result is not None and stopped.result.ranks == (1, 1)


def test_options_default_to_none() -> None:
    assert GAME.options() == GAME.options()
    assert GAME.methods is Pig.METHODS


def test_a_key_does_not_read_the_annotations_again() -> None:
    state, costs = new(), []

    def count(frame: FrameType, event: str, argument: object) -> None:
        costs[-1] += event == "call"

    for _ in range(3):  # a garbage collection may come in between
        costs.append(0)
        sys.setprofile(count)
        state.key()
        sys.setprofile(None)
    assert min(costs) <= 15
