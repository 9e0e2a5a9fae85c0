"""Replays of version 0.1 before its inside was rebuilt, one for each game, still verify."""

from pathlib import Path

import pytest

from referee.games import registry
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

OLD_REPLAYS = Path(__file__).parents[1] / "support" / "old_replays"


@pytest.mark.parametrize("game", registry.own_names())
def test_an_old_replay_of_each_game_verifies(game: str) -> None:
    replay = Replay(OLD_REPLAYS / f"{game}.jsonl.gz")
    assert replay.game.name == game
    result = verify(replay)
    assert replay.ending is not None and result == replay.ending.result
