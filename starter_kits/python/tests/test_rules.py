"""The rules half: luck, turns as they are sent, and what the helper for tests finds."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from referee_kit.rules import Fault, Luck, Result, Rules, Turn, random_game


class Counter(Rules[int]):
    """Two seats count down from three. Subclasses make a mistake."""

    game = "counter"

    def start(self, options: Any, seats: int, luck: Luck) -> Turn[int]:
        return Turn(3).ask(0, "count")

    def step(self, position: int, answers: Mapping[int, Any], luck: Luck) -> Turn[int]:
        if position == 0:
            return Turn(0, result=Result([1, 2], [1, 0], "zero"))
        return Turn(position - 1).ask(position % 2, "count")

    def legal(self, position: int, seat: int, most: int) -> list[int]:
        return [1]


def test_luck_draws_what_the_referees_own_games_draw() -> None:
    luck = Luck(7)
    assert luck.bits() == 0x63CBE1E459320DD7
    assert [luck.below(6) for _ in range(8)] == [0, 0, 3, 4, 3, 4, 0, 5]
    assert luck.choice("abc") == "c"
    cards = list(range(10))
    luck.shuffle(cards)
    assert cards == [4, 1, 2, 8, 5, 0, 9, 6, 7, 3]


def test_a_turn_is_sent_without_what_says_nothing() -> None:
    assert Turn({"left": 1}).to_json() == {"position": {"left": 1}, "calls": {}}
    turn = Turn(0, text="zero", result=Result([1, 1], [0.5, 0.5], "draw")).notice("a", {}).notice("b", {}, to=[])
    assert turn.punish(1).refuse(0, "no", "none").to_json() == {
        "position": 0,
        "calls": {},
        "notices": [{"method": "a", "params": {}}, {"method": "b", "params": {}, "to": []}],
        "rulings": [
            {"seat": 1, "penalty": "loses", "after": 2},
            {"seat": 0, "kind": "illegal", "detail": "no", "penalty": "none", "after": 2},
        ],
        "text": "zero",
        "result": {"ranks": [1, 1], "scores": [0.5, 0.5], "reason": "draw"},
    }


def test_only_a_fault_of_a_process_that_ended_is_fatal() -> None:
    kinds = ("timeout", "error", "illegal", "crash", "memory", "protocol")
    assert [Fault(kind, "").fatal for kind in kinds] == [False, False, False, True, True, True]


def test_a_random_game_returns_all_turns() -> None:
    assert [turn.position for turn in random_game(Counter())] == [3, 2, 1, 0, 0]


class Drawing(Counter):
    def step(self, position: int, answers: Mapping[int, Any], luck: Luck) -> Turn[int]:
        return Turn(random.getrandbits(60)).ask(0, "count")


class Refusing(Counter):
    def step(self, position: int, answers: Mapping[int, Any], luck: Luck) -> Turn[int]:
        return super().step(position, answers, luck).refuse(1, "no", "none")


class Endless(Counter):
    def step(self, position: int, answers: Mapping[int, Any], luck: Luck) -> Turn[int]:
        return Turn(position).ask(0, "count")


class Undecided(Counter):
    def step(self, position: int, answers: Mapping[int, Any], luck: Luck) -> Turn[int]:
        return Turn(position)


class Lopsided(Counter):
    def step(self, position: int, answers: Mapping[int, Any], luck: Luck) -> Turn[int]:
        return Turn(position, result=Result([1], [1], "over"))


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (Drawing(), "the same question has another answer"),
        (Refusing(), "a legal answer is ruled"),
        (Endless(), "no end after 50 steps"),
        (Undecided(), "the match is over without a result"),
        (Lopsided(), "the result does not rank 2 seats"),
    ],
)
def test_a_random_game_finds_the_mistake(rules: Rules[int], said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        random_game(rules, most=50)
