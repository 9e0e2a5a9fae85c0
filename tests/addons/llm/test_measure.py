"""The lines of a replay about the use and the texts of a model."""

import msgspec
import pytest

from referee.addons.llm.measure import TOKENS
from referee.addons.llm.use import Exchange, ModelUse
from referee.games import registry
from referee.games.contract import Setup
from referee.harness.common.records import NO_COST, Cost
from referee.harness.replay.writer import MemoryReplayWriter


@pytest.mark.parametrize("in_full", [True, False])
def test_a_turn_has_what_was_used_and_a_full_replay_what_was_said(in_full: bool) -> None:
    game = registry.game("tictactoe")
    state = game.new(Setup(1, ("one", "other"), game.options()))
    exchange = Exchange([{"role": "user", "content": "?"}], "a1", ModelUse(3))
    writer = MemoryReplayWriter()
    cost = Cost(measured={"model": ModelUse(3), "transcript": (exchange,)})
    writer.turn({0: 1, 1: 2}, [], [NO_COST, cost], state, transcripts=in_full)
    turn = msgspec.json.decode(writer.lines[0])
    assert turn["model"] == {"1": {"prompt_tokens": 3}}
    assert ("transcript" in turn) is in_full


def test_uses_add_up_and_an_unknown_cost_stays_unknown() -> None:
    assert TOKENS.total([None, ModelUse(1, 2), None, ModelUse(3, cost=0.5)]) == ModelUse(4, 2, 0.5)
    assert TOKENS.total([ModelUse(1), ModelUse(2)]).cost is None
    assert TOKENS.total([None]) is None
