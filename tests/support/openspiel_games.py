"""OpenSpiel's own states, and the eight of its games that are tested daily."""

from collections.abc import Iterable
from typing import Any

import pytest

DAILY = (
    "connect_four",  # in turns, perfect information, no luck
    "pig",  # dice that all see, 2 to 10 players
    "leduc_poker",  # hidden cards, both kinds of observation
    "hearts",  # four players, and no observation but an information state
    "goofspiel",  # simultaneous moves, 2 to 10 players
    "matrix_pd",  # one simultaneous move, no sum of zero
    "coop_box_pushing",  # simultaneous moves with hidden luck, which pay on the way
    "tarok",  # draws its luck itself, 3 or 4 players, no tensor of observations
)
"""Chosen so that each branch of the engine for a kind of game is taken. The others are tested nightly."""


def few_and_many(rows: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Returns parameters with one more, `many`: of the daily games without it, and nightly of every game with it.

    The name of the game is the first of a row.
    """
    every = [*rows]
    few = [pytest.param(*row, False, id="-".join(row)) for row in every if row[0] in DAILY]
    return few + [pytest.param(*row, True, id="-".join((*row, "many")), marks=pytest.mark.nightly) for row in every]


def follow(state: Any, actions: Iterable[int]) -> Any:
    """Plays these actions in a state of OpenSpiel, and returns it."""
    rest = list(actions)
    while rest:
        joint = state.num_players() if state.is_simultaneous_node() else 1
        taken, rest = rest[:joint], rest[joint:]
        state.apply_actions(taken) if state.is_simultaneous_node() else state.apply_action(taken[0])
    return state
