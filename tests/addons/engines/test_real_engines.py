"""GNU Go and Fairy-Max, as Debian has them, play whole games. Stockfish: test_game_files.py."""

import pytest
from needs import needs
from scripted import Arena

from referee.games.game import TimeControl
from referee.harness.isolation.plan import Isolation
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrants

pytestmark = [pytest.mark.trio, pytest.mark.slow, needs("engines")]

SEEDS = [pytest.param(seed, marks=[pytest.mark.nightly] if seed else []) for seed in range(20)]
CALL, BANK = TimeControl(per_call_s=20.0), TimeControl(initial_s=60.0, increment_s=1.0)
GNU_GO = "gtp:gnugo --mode gtp --never-resign --positional-superko --level 0"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("game", "engine", "program", "time", "options"),
    [
        ("openspiel:go", GNU_GO, "GNU Go", CALL, {"board_size": 7}),
        ("openspiel:chess", "cecp:--depth 2 fairymax", "Fairy-Max 5.0b", BANK, {"opening": 4}),
    ],
    ids=["gnugo", "fairymax"],
)
async def test_an_engine_plays_games_without_a_fault(
    arena: Arena, game: str, engine: str, program: str, time: TimeControl, options: dict[str, int], seed: int
) -> None:
    """In isolation."""
    match = arena.match(*entrants([engine, engine], game), game=game, time=time, seed=seed, **options)
    limits = Limits(memory_bytes=512 << 20, isolation=Isolation(writable=(str(arena.folder),)))
    verdict = await arena.play(match, limits, granted_s=120)
    assert verdict.faults == () and verdict.seats[0].calls > 5
    assert [seat.program for seat in verdict.seats] == [program] * 2
