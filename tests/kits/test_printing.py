"""Prints of a bot before it plays, and of a program that uses a kit without playing."""

import subprocess

import pytest
from conformance import INITIALIZE
from kits import SUFFIXES, probe

from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import environment
from referee.protocol.codec import JSON

GREETING = JSON.frame(
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {**INITIALIZE, "game": "tictactoe", "encodings": ["json"]},
    }
)


@pytest.fixture
def program(kit: str) -> Entrant:
    return probe(kit, "prints")


def run(program: Entrant, given: bytes, env: dict[str, str]) -> tuple[bytes, bytes]:
    """Runs a program; returns its standard output and standard error."""
    done = subprocess.run(
        program.argv, input=given, env=env, cwd=program.cwd, capture_output=True, timeout=60, check=True
    )
    return done.stdout, done.stderr


def alone() -> dict[str, str]:
    """Returns the environment of a program that is not started by the referee."""
    return {name: value for name, value in environment().items() if name != "REFEREE_BOT"}


def test_a_program_that_runs_no_bot_keeps_its_standard_output(program: Entrant) -> None:
    """For example in `echo | python uses_the_kit.py | cat`."""
    env = alone() | {"ONLY_USES_THE_KIT": "1"}
    stdout, _ = run(program, b"\n", env)
    assert stdout.startswith(b"buffered")


@pytest.mark.parametrize("kit", sorted({*SUFFIXES} - {"rust"}), indirect=True)
def test_under_the_referee_no_print_before_run_reaches_the_wire(program: Entrant) -> None:
    stdout, stderr = run(program, GREETING, environment() | {"AT_ONCE": "1"})
    assert (stdout.count(b"\n"), b"at once" in stdout) == (1, False)
    assert b"buffered+ at once" in stderr


BUFFERED = ("c", "cpp", "python", "rust")
"""Languages with buffered prints."""


def test_buffered_prints_never_reach_the_wire(kit: str, program: Entrant) -> None:
    stdout, stderr = run(program, GREETING, alone())
    assert stdout.startswith(b'{"') and stdout.count(b"\n") == 1
    assert (b"buffered" in stderr) == (kit in BUFFERED)
