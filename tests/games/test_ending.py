"""The end of a match in words."""

import inspect
import re

import pytest

from referee.games import registry
from referee.games.contract import FaultKind, Result, draw, win
from referee.games.ending import ENDINGS, headline
from referee.games.game import Game

OURS = [registry.game(name) for name in registry.own_names()]
every_game = pytest.mark.parametrize("game", OURS, ids=lambda game: game.name)
REASON = re.compile(r'(?:\b(?:win|draw|stop)\((?:[^"()]*, )?|reason = |WINS = \(|_LEFT = )"(\w+)"(?:, "(\w+)"\))?')


def reasons(game: Game) -> set[str]:
    """The reasons that the source of a game's rules names."""
    source = "".join(inspect.getsource(inspect.getmodule(each) or each) for each in inspect.getmro(game.new)[:3])  # type: ignore[arg-type]
    return {word for match in REASON.findall(source) for word in match if word}


def said(name: str, result: Result) -> str:
    return headline(registry.game(name).presentation.endings, result, ("A", "B"))


@every_game
def test_every_reason_in_the_rules_has_words(game: Game) -> None:
    named = reasons(game)
    assert named, "the source names the reasons"
    assert not named - game.presentation.endings.keys() - ENDINGS.keys()


@every_game
@pytest.mark.parametrize("reason", [*FaultKind, "no_winner"])
def test_every_end_is_a_sentence_without_identifiers(game: Game, reason: str) -> None:
    endings = game.presentation.endings
    for each in (reason, *endings):
        seats = game.seats.start
        ranks, scores = tuple(range(1, seats + 1)), tuple(float(seats - seat) for seat in range(seats))
        words = headline(endings, Result(ranks, scores, f"{each}: why"), [f"bot{seat}" for seat in range(seats)])
        assert words.startswith("bot0 wins: ") and not re.search(r"[_{}]", words)


@pytest.mark.parametrize(
    ("game", "result", "words"),
    [
        ("reantics", win(0, "queen_killed"), "A wins: B's queen was killed"),
        ("reantics", win(1, "illegal_move"), "B wins: A's move was illegal"),
        ("reantics", win(1, "food_goal"), "B wins: B has collected 11 food"),
        ("reantics", draw("draw_limit"), "a draw: the turn limit was reached"),
        ("cardgame", win(0, "timeout"), "A wins: B did not answer in time"),
        ("aiarena21", Result((2, 1), (9.0, 33.0), "points"), "B wins: 33 to 9 points"),
        ("tictactoe", win(1, "FLIPPED: crashed"), "B wins: the table was flipped after A's fault: crashed"),
        ("quoridor", win(0, "the time of the match is up"), "A wins: the time of the match is up"),
    ],
)
def test_headlines(game: str, result: Result, words: str) -> None:
    assert said(game, result) == words


def test_names_that_occur_twice_get_their_seats_and_an_unknown_reason_loses_its_underscores() -> None:
    assert headline({}, win(0, "too_far"), ("A", "A")) == "A (seat 0) wins: too far"
