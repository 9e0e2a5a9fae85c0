"""The kits' example bots in the Arena's test run."""

from pathlib import Path

import pytest
from kits import example

from referee.addons.arena.judge import judge
from referee.harness.isolation.plan import OFF
from referee.harness.process.limits import Limits

MAY_MISS: dict[str, set[str]] = {
    "tictactoe": set(),
    # Examples need not withstand the strong opponent.
    "quoridor": {"AB_AI_FIRST", "AB_AI_SECOND"},
    "connectfour": {"AB_AI_R", "AB_AI_Y"},
}


@pytest.mark.trio
@pytest.mark.parametrize("game", sorted(MAY_MISS))
async def test_the_examples_get_all_points_of_the_test_run_but_some_of_the_strong_opponent(
    game: str, cpp_kit: None, tmp_path: Path
) -> None:
    """Tests one language, since the examples of both think alike."""
    judgement = await judge(game, example("cpp", game), 1, Limits(isolation=OFF), tmp_path)
    missed = {case.case: case.why for case in judgement.cases if case.points < case.out_of}
    assert missed.keys() <= MAY_MISS[game], missed
