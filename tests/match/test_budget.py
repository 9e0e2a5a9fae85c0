"""The work of the referee for a turn, and for a game of the command that people type, stays within a budget."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from needs import needs

COUNTED_TURNS = Path(__file__).parents[1] / "support" / "counted_turns.py"
"""Prints the current values: `python tests/support/counted_turns.py calls`, and the same with other words."""
CALLS = 47
"""Python calls of a turn."""
GAME_CALLS = 673
"""Python calls of a game of `referee play`, its 9 turns included."""
INSTRUCTIONS = 134_000
"""Instructions of a turn with the Python of `BUILD`."""
MARGIN = 0.02
BUILD = "3.11.7 (main, May  9 2026, 07:35:25) [GCC 12.2.0]"
"""`sys.version`, which names the build by its time and compiler."""


def counted(what: str) -> float:
    """Returns the work of a turn or game, counted in a process without pytest."""
    command = [sys.executable, str(COUNTED_TURNS), what]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=250).stdout)


def test_python_calls_of_a_turn() -> None:
    calls = counted("calls")
    assert calls <= CALLS, f"a turn takes {calls} Python calls, and the budget is {CALLS}"


@pytest.mark.slow
def test_python_calls_of_a_game_of_the_command() -> None:
    calls = counted("game")
    assert calls <= GAME_CALLS * (1 + MARGIN), (
        f"a game of `referee play` takes {calls} Python calls, and the budget is {GAME_CALLS}"
    )


@pytest.mark.slow
def test_a_late_game_of_a_best_of_series_costs_no_more_than_any_game() -> None:
    assert counted("best-of") <= GAME_CALLS * (1 + MARGIN)


# CI fails a test that is skipped, so there another build does without this one.
if sys.version == BUILD or not os.environ.get("CI"):

    @pytest.mark.slow
    @pytest.mark.alone  # beside other tests, waits for answers count up to 1% more
    @pytest.mark.skipif(sys.version != BUILD, reason=f"the budget is that of Python {BUILD}")
    @needs("valgrind")
    def test_instructions_of_a_turn() -> None:
        instructions = counted("instructions")
        assert instructions <= INSTRUCTIONS * (1 + MARGIN), (
            f"a turn takes {instructions:,.0f} instructions, and the budget is {INSTRUCTIONS:,} and {MARGIN:.0%}"
        )
