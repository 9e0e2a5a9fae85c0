"""The help with all add-ons: how many options, and that of their commands."""

import pytest
from help_texts import MOST, listed, paths

from referee.harness.cli.command_line import app
from referee.harness.cli.help import explained, manual, topic
from referee.harness.cli.main import main


def test_play_gate_and_tournament_run_have_options_beyond_the_short_help() -> None:
    """The greatest number would be worth little if nothing were left out."""
    for words in (("play",), ("gate",), ("tournament", "run")):
        of = topic(app, words)
        assert len(listed(explained(of, 100, False))) == MOST < len(listed(explained(of, 100, True)))


def test_only_language_models_have_options_of_their_own_in_the_help_of_a_command() -> None:
    for words in list(paths())[1:]:
        _, *of_bots = explained(topic(app, words), 100, True).split("\nOptions of ")
        assert [listed(each)[0] for each in of_bots] == (["--url"] if words == ("play",) else [])


def test_help_of_an_add_ons_command_is_the_same_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "tournament", "page"]) == 0
    shown = capsys.readouterr()
    assert main(["tournament", "page", "--help"]) == 0
    assert capsys.readouterr() == shown and shown.out.startswith("Usage: referee ") and shown.err == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_has_the_commands_of_add_ons(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    assert "tournament" in capsys.readouterr().out


def test_the_man_page_has_the_commands_of_add_ons() -> None:
    assert "tournament" in manual(app)
