"""The options of every command, and the limits that `--limit` and `--build` set."""

import shutil
import subprocess

import pytest
from help_texts import MOST, listed, paths

from referee.harness.cli.command_line import app
from referee.harness.cli.help import commands, explained, manual, topic
from referee.harness.cli.limit_options import BUILDS, LIMITS, LimitOptions
from referee.harness.cli.main import main
from referee.harness.process.limits import Limits

COMMANDS = list(paths())


@pytest.mark.parametrize("words", COMMANDS[1:], ids=" ".join)
def test_help_is_short_and_help_all_is_everything(words: tuple[str, ...]) -> None:
    of = topic(app, words)
    short, whole = explained(of, 100, False), explained(of, 100, True)
    whole, *of_bots = whole.split("\nOptions of ")
    assert all(map(listed, of_bots)) and (words == ("play",) or not of_bots)
    assert len(listed(short)) <= MOST
    command = app
    for word in words:
        command = command[word]
    if not commands(command):
        arguments = [each for each in command.assemble_argument_collection() if each.index is None and each.show]
        flags = {flag for each in arguments for flag in each.positives if flag.startswith("--")}
        assert set(listed(whole)) == flags
        has_more = f"`referee {' '.join(words)} --help --all` explains" in short
        assert has_more == (len(whole) > len(short))


@pytest.mark.slow
def test_the_man_page_is_valid_troff() -> None:
    page = manual(app)
    for word in ("replay show", "\\-\\-best\\-of", "EXIT STATUS", "had no core"):
        assert word in page.replace("\n", " "), word
    if shutil.which("groff"):
        command = ["groff", "-man", "-ww", "-Tutf8"]
        told = subprocess.run(command, input=page, capture_output=True, text=True, timeout=30)
        assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize("words", COMMANDS[1:], ids=" ".join)
def test_every_command_has_a_line_in_the_help_of_the_one_above(words: tuple[str, ...]) -> None:
    sentence = topic(app, words[:-1]).commands[words[-1]]
    assert 10 < len(sentence) <= 56, "a line of 80 columns"


def test_help_of_a_command_is_the_same_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    for form, other in (
        (("help", "play"), ("--game", "tictactoe", "@random", "@random", "--help")),
        (("help", "play"), ("play", "--help")),
        (("help", "replay"), ("replay", "-h")),
        (("help", "replay", "show"), ("replay", "show", "--help")),
    ):
        assert main(form) == 0
        shown = capsys.readouterr()
        assert main(other) == 0
        assert capsys.readouterr() == shown and shown.out.startswith("Usage: referee ") and shown.err == ""


@pytest.mark.slow
def test_the_overview_fits_a_screen_and_help_all_has_every_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 42 and max(map(len, lines)) <= 80
    assert main(["--help", "--all"]) == 0
    shown = capsys.readouterr().out
    assert "on_noise=charge" in shown and "no core" in " ".join(shown.split())


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_is_printed_for_each_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "replay" in out and "best-of" in out
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=out, text=True, timeout=120).returncode == 0


def test_the_defaults_in_the_help_are_those_of_the_limits() -> None:
    for each in (*LIMITS, *BUILDS):
        assert each.parse(each.default, each.name) == getattr(Limits(), each.member)
    assert LimitOptions().limits() == Limits()


def test_the_last_value_of_a_limit_counts() -> None:
    limits = LimitOptions(limit=("startup=3s", "pause=true", "startup=4s"), build=("offline=true",)).limits()
    assert (limits.startup_s, limits.pause, limits.build_network) == (4.0, True, False)
