"""Games that were slowed by machine load are recognised, played again, and not counted."""

import os
import sqlite3
from pathlib import Path

import pytest
from contests import burners, drawing_bot, games, table, tournament

from referee.addons.tournament.store import reader
from referee.harness.process import core_locks

pytestmark = [pytest.mark.slow, pytest.mark.alone]

BURNS = """
plain = choose
def choose():
    until = time.thread_time() + 0.06
    while time.thread_time() < until: pass
    return plain()
"""
"""Every call takes 60 ms of CPU time."""


ENDLESS = """
def choose():
    while True: pass
"""


def test_an_endless_loop_is_not_the_machines_fault_on_a_busy_core(tmp_path: Path) -> None:
    """A program that shares the core takes half of the time."""
    endless, quick = drawing_bot(tmp_path, "endless", 1, ENDLESS), drawing_bot(tmp_path, "quick", 2)
    words: list[str | Path] = ["--game", "tictactoe", endless, quick, "--format", "two-player", "--jobs", "1"]
    with burners(min(core_locks.physical())[0], 1):
        said = tournament(
            tmp_path, *words, "--call-time", "300ms", "--limit", "startup=60s", "--ledger", tmp_path / "t"
        )
    (game,) = games(tmp_path / "t").values()
    (fault,) = game.f
    assert fault.kind == "timeout" and game.ms > 400, "it had its time after the limit"
    if fault.ran > 270_000:  # else other programs took three quarters of the core
        assert "The machine decided none of 1 game;" in " ".join(said.split())
        assert "machine load slowed" not in said


@pytest.mark.alone
def test_a_game_slowed_by_machine_load_is_played_again_and_reported(tmp_path: Path) -> None:
    slow, quick = drawing_bot(tmp_path, "slow", 1, f"import time\n{BURNS}"), drawing_bot(tmp_path, "quick", 2)
    folder = tmp_path / "t"
    start: list[str | Path] = ["--game", "tictactoe", slow, quick, "--format", "two-player", "--jobs", "1"]
    with burners(min(core_locks.physical())[0], 3):
        said = tournament(
            tmp_path,
            *start,
            "--call-time",
            "80ms",
            "--limit",
            "startup=60s",
            "--limit",
            "on_noise=replay",
            "--ledger",
            folder,
        )
    (game,) = games(folder).values()
    lines = [line for _, line in reader.every_line(folder)]
    assert [line.void for line in lines] == [True, True, True, False]
    assert {line.k for line in lines} == {game.k} and {line.s for line in lines} == {game.s}
    assert all(any(fault.noise for fault in line.f) for line in lines)
    assert "3 games were played again because of it" in said
    assert "machine load slowed 1 of 1 game with a fault" in said
    found = table(folder)
    assert found["played"] == 1 and found["voids"] == 3
    assert sum(row["noise"] for row in found["rows"]) >= 1

    base = tmp_path / "games.sqlite"
    tournament(tmp_path, "show", folder, "--sqlite", base)
    tournament(tmp_path, "show", folder, "--sqlite", base)  # replaces the old one
    with sqlite3.connect(base) as asked:
        assert asked.execute("SELECT key, seed FROM games").fetchall() == [(game.k, str(game.s))]
        query = "SELECT name, rank FROM seats JOIN bots ON bot = ident ORDER BY seat"
        assert asked.execute(query).fetchall() == list(zip(("slow", "quick"), game.r, strict=True))
        assert asked.execute("SELECT max(noise) FROM faults").fetchone() == (1,)
    said = tournament(tmp_path, "show", folder, "--sqlite", tmp_path / "nowhere" / "x", code=3)
    assert "cannot be written" in said and not os.path.exists(tmp_path / "nowhere")
