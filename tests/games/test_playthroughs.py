"""Recorded matches: a rule that changes shows here. `python tests/games/playthrough_text.py` writes them anew."""

import pytest
from playthrough_text import FOLDER, playthrough

from referee.games import registry


@pytest.mark.parametrize("name", registry.names())
def test_the_game_plays_as_recorded(name: str) -> None:
    recorded = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for number, (line, expected) in enumerate(zip(playthrough(registry.game(name)), recorded, strict=True), 1):
        assert line == expected, f"{name}.txt line {number}"


def test_no_record_is_left_of_a_game_that_is_gone() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == registry.names()
