"""A prompt has all that a player needs: a small program that reads only prompts plays every game, and wins."""

from typing import Any

import pytest
from prompt_player import answer

from referee.games import registry
from referee.games.contract import Setup
from referee.tools.prompted import turns

pytestmark = pytest.mark.slow

LONGER: dict[str, dict[str, Any]] = {"aiarena21": {"turns": 45}, "reantics": {"draw_after": 400}}
SHORTER: dict[str, dict[str, Any]] = {"aiarena21": {"turns": 27}, "aibg5": {"rounds": 18}}


def wins(name: str, seeds: range, **options: Any) -> int:
    """Plays a match for each seed, against seats that draw legal answers. Returns how many are won."""
    game, won = registry.game(name), 0
    for seed in seeds:
        seats = game.seats.start
        names = tuple(f"player {seat}" for seat in range(seats))
        setup = Setup(seed, names, game.options(**{**game.ending, **options}))
        for turn in turns(game, setup, seed % seats, answer):
            assert turn.fault is None, f"seed {seed}: {turn.fault}, answer {turn.answer} to:\n{turn.question}"
        assert turn.state.result is not None
        ranks = turn.state.result.ranks
        won += ranks[seed % seats] == 1 and ranks.count(1) == 1
    return won


@pytest.mark.parametrize("name", registry.own_names())
def test_who_reads_only_the_prompt_answers_legally_and_wins(name: str) -> None:
    assert wins(name, range(2), **SHORTER.get(name, {})) >= 1


@pytest.mark.nightly
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("name", registry.own_names())
def test_who_reads_only_the_prompt_wins_most_of_twenty_matches(name: str) -> None:
    assert wins(name, range(100, 120), **LONGER.get(name, {})) > 10
