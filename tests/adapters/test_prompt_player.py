"""A prompt has all that a player needs: a small program that reads only prompts plays every game, and wins."""

from collections import Counter
from typing import Any

import pytest
from prompt_player import answer

from referee.games import registry
from referee.games.contract import Setup
from referee.tools.prompted import turns

SHORTER: dict[str, dict[str, Any]] = {"aiarena21": {"turns": 27}, "aibg5": {"rounds": 18}}


def ranks(name: str, seeds: range, **options: Any) -> Counter[int]:
    """Plays a match for each seed, against seats that draw legal answers. Returns how often each rank came."""
    game, found = registry.game(name), Counter[int]()
    for seed in seeds:
        seats = game.seats.start
        names = tuple(f"player {seat}" for seat in range(seats))
        setup = Setup(seed, names, game.options(**{**game.ending, **options}))
        for turn in turns(game, setup, seed % seats, answer):
            assert turn.fault is None, f"seed {seed}: {turn.fault}, answer {turn.answer} to:\n{turn.question}"
        assert turn.state.result is not None
        found[turn.state.result.ranks[seed % seats]] += 1
    return found


@pytest.mark.parametrize("name", registry.own_names())
def test_who_reads_only_the_prompt_answers_legally_and_wins(name: str) -> None:
    found = ranks(name, range(2), **SHORTER.get(name, {}))
    assert found[1] >= 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", registry.own_names())
def test_who_reads_only_the_prompt_wins_most_of_twenty_matches(name: str) -> None:
    found = ranks(name, range(100, 120))
    assert found[1] >= 15
