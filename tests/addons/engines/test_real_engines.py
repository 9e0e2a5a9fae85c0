"""Stockfish, GNU Go and Fairy-Max, as Debian has them, play whole games."""

import subprocess
from pathlib import Path

import pytest
from needs import needs
from scripted import Arena

from referee.addons.engines.board import Board
from referee.games.game import TimeControl
from referee.harness.isolation.plan import Isolation
from referee.harness.languages import toolchains as found
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import entrants
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions

pytestmark = [pytest.mark.slow, needs("engines")]

CHESS, GO = "openspiel:chess", "openspiel:go"
NODES = 1500
CALL = TimeControl(per_call_s=20.0)
BANK = TimeControl(initial_s=60.0, increment_s=1.0)


async def played(
    arena: Arena, game: str, *specs: str, time: TimeControl, seed: int, granted_s: float, **options: object
) -> Verdict:
    """Plays in isolation."""
    match = arena.match(*entrants(specs, game), game=game, time=time, seed=seed, **options)
    limits = Limits(memory_bytes=512 << 20, isolation=Isolation(writable=(str(arena.folder),)))
    return await arena.play(match, limits, granted_s=granted_s)


def moves(replay: Path) -> list[str]:
    """Returns the moves of a chess game in long algebraic notation."""
    steps = [step for _, _, step in positions(Replay(replay)) if isinstance(step, Turn)]
    board = Board(CHESS, {})
    board.advance([answer["action"] for step in steps for answer in step.answers.values()])
    return board.moves


class DirectEngine:
    """Stockfish, asked without the referee."""

    def __init__(self) -> None:
        program = found.find("stockfish")
        assert program is not None
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ask("uci", "uciok")
        self.ask("isready", "readyok")
        self.ask("ucinewgame\nisready", "readyok")

    def ask(self, lines: str, word: str) -> list[str]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(lines + "\n")
        return next(words for line in self.process.stdout if (words := line.split())[:1] == [word])

    def move(self, history: list[str]) -> str:
        position = " ".join(["position startpos", *(["moves", *history] if history else [])])
        return self.ask(f"{position}\ngo nodes {NODES}", "bestmove")[1]

    def quit(self) -> None:
        self.process.communicate("quit\n", timeout=10)


@pytest.mark.slow
@pytest.mark.trio
async def test_stockfish_plays_the_same_twice_and_as_without_the_referee(arena: Arena) -> None:
    games = []
    for _ in range(2):
        spec = f"uci:--nodes {NODES} stockfish"
        verdict = await played(arena, CHESS, spec, spec, time=CALL, seed=1, granted_s=120)
        assert verdict.faults == ()
        games.append(moves(arena.folder / "match.jsonl"))
        (arena.folder / "match.jsonl").unlink()
    assert games[0] == games[1] and len(games[0]) > 40
    direct = [DirectEngine(), DirectEngine()]
    alone = [direct[ply % 2].move(games[0][:ply]) for ply in range(len(games[0]))]
    for engine in direct:
        engine.quit()
    assert alone == games[0]


SEEDS = [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in range(20)]


@pytest.mark.trio
@pytest.mark.parametrize("seed", SEEDS)
async def test_gnugo_plays_games_without_a_fault(arena: Arena, seed: int) -> None:
    engine = "gtp:gnugo --mode gtp --never-resign --positional-superko --level 0"
    verdict = await played(arena, GO, engine, engine, time=CALL, seed=seed, granted_s=120, board_size=7)
    assert verdict.faults == () and verdict.seats[0].calls > 5
    assert [seat.program for seat in verdict.seats] == ["GNU Go"] * 2


@pytest.mark.trio
@pytest.mark.parametrize("seed", SEEDS)
async def test_fairymax_plays_games_without_a_fault(arena: Arena, seed: int) -> None:
    engine = "cecp:--depth 2 fairymax"
    verdict = await played(arena, CHESS, engine, engine, time=BANK, seed=seed, granted_s=120, opening=4)
    assert verdict.faults == () and verdict.seats[0].calls > 5
    assert [seat.program for seat in verdict.seats] == ["Fairy-Max 5.0b"] * 2
