"""The misbehaving bots, as the rules of a game: nothing hangs, nothing is left, and no match is won by it."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from misbehaving import BOTS, FAMILIES
from rules_games import write_game

import referee
from referee.games import registry
from referee.harness.adapters.rules import program
from referee.harness.adapters.rules.source import SOURCE
from referee.harness.errors import RunError
from referee.harness.isolation.process_tree import descendants

pytestmark = [
    pytest.mark.slow,
    pytest.mark.depends_on("harness/adapters/rules/", "harness/isolation/", "harness/process/", "tests/support/bots/"),
]

LIMIT_S = 0.5
"""The limit of a request here."""
LIVES_S = 8.0
"""A match with rules that fail ends within this time, also on a busy machine: one limit, a start and an end."""
PROGRAMS = [f"{family}/{path.stem}" for family in FAMILIES for path in sorted((BOTS / family).glob("*.py"))]


@pytest.fixture(autouse=True)
def _ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(program, "CALL_S", LIMIT_S)
    monkeypatch.setattr(program, "STARTUP_S", 2.0)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield
    SOURCE.forget()


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_match_whose_rules_misbehave_is_a_failed_run(tmp_path: Path, name: str) -> None:
    body = (BOTS / f"{name}.py").read_text()
    game = registry.in_folder(str(write_game(tmp_path / "small", body)))
    before = set(descendants(os.getpid()))
    started = time.monotonic()
    with pytest.raises(RunError, match="the rules of small"):
        referee.play("small", ["@random", "@random"], seed=7, replay=None)
    took_s = time.monotonic() - started
    assert took_s < 2.0 + LIMIT_S + LIVES_S
    SOURCE.forget()
    assert game.name == "small"
    until = time.monotonic() + 3
    while set(descendants(os.getpid())) - before and time.monotonic() < until:
        time.sleep(0.02)
    assert not set(descendants(os.getpid())) - before
