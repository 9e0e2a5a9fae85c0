"""Three games written again in other languages agree with ours: positions, calls, notices, rulings and views."""

import pytest
from driving import NONSENSE
from kits import need
from rules_oracle import Program, play, program

from referee.games import cardgame, connectfour, registry, tictactoe
from referee.games.dice import Dice
from referee.protocol.messages import Encoding

SPOKEN = {"cpp": list(Encoding), "java": list(Encoding), "rust": [Encoding.JSON]}
"""The encodings of each language. The Rust programs use no kit: they write lines of JSON."""
OPTIONS = {
    "tictactoe": [tictactoe.Options(), tictactoe.Options(flip="auto")],
    "connectfour": [
        connectfour.Options(),
        connectfour.Options(flip="auto", columns=5, rows=4, inarow=3),
        connectfour.Options(columns=7, rows=2),
        connectfour.Options(columns=1, rows=9, inarow=9),
    ],
    "cardgame": [cardgame.Options(), cardgame.Options(first=1, timeouts=2)],
}
CARD_NONSENSE = [
    *[None, True, 1.5, 0, -1, "x", {}, {"a": 1}, [], [None], ["0"], [True], [5], [-1], [0.5], [0], [1], [2], [3], [4]],
    *[[action, index] for action in (1, 2, 3) for index in (0, 3, 11, -1, None, "1", [], [0], [1], {"a": 1})],
    *[[3, [source, target]] for source in (0, 1, 2, 8, "1") for target in (0, 1, 9, -1, None)],
    *[[2, [index, target]] for index in range(4) for target in (0, 1, 9, -1, True)],
    *[[1, [index, 0]] for index in range(5)],
]
CELLS = [{"action": "putSymbol", "position": cell} for cell in tictactoe.CELLS]
COLUMNS = [{"action": "putToken", "column": column} for column in connectfour.COLUMNS]
ANSWERS = {
    "tictactoe": [*NONSENSE, *CELLS, None, [], "play", 7, {"action": "putSymbol", "position": "ä€😀" * 60}],
    "connectfour": [*NONSENSE, *COLUMNS, None, [], "play", 7, {"action": "putToken", "column": ["😀" * 120]}],
    "cardgame": CARD_NONSENSE,
}
"""Answers of bots besides legal ones."""


def agree(game: str, language: str, seeds: range) -> None:
    need(language)
    reasons = set()
    for number, encoding in enumerate(SPOKEN[language]):
        with Program(program(language, game), encoding, game) as rules:
            for seed in seeds[number :: len(SPOKEN[language])]:
                options = Dice(seed).choice(OPTIONS[game])
                odds = (3, 12, 60)[seed % 3]
                result = play(registry.game(game), rules, seed, options, ANSWERS[game], odds).state.result
                assert result is not None
                reasons.add(result.reason)
    assert len(reasons) >= 3, reasons


SHARE = [("java", "cardgame"), ("java", "connectfour"), ("cpp", "tictactoe"), ("rust", "tictactoe")]
"""What `make test` plays: each language and each game at least once."""


@pytest.mark.parametrize(("language", "game"), SHARE)
def test_rules_in_another_language_agree_with_ours(language: str, game: str) -> None:
    agree(game, language, range(6 if game == "cardgame" else 36))


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("game", ANSWERS)
@pytest.mark.parametrize("language", SPOKEN)
def test_they_agree_over_thousands_of_games(language: str, game: str) -> None:
    agree(game, language, range(1000, 1500 if game == "cardgame" else 3000))
