"""The options of every command, and the limits that `--limit` and `--build` set."""

import re
from collections.abc import Iterator

import pytest
from cyclopts import App

from referee.games import registry
from referee.harness.cli.command_line import app
from referee.harness.cli.help import commands, explained, reference, topic, topics
from referee.harness.cli.limit_options import BUILDS, LIMITS, LimitOptions
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import HOME
from referee.harness.match.rule_options import option_names
from referee.harness.process.limits import Limits

MOST = 20


def paths(command: App = app, *words: str) -> Iterator[tuple[str, ...]]:
    yield words
    for name, inner in commands(command).items():
        yield from paths(inner, *words, name)


COMMANDS = list(paths())


def listed(text: str) -> list[str]:
    """Returns the options that a help text explains."""
    words = [line.split() for line in text.splitlines() if line.startswith("  -")]
    return [next(word for word in line if word.startswith("--")) for line in words]


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_is_short_and_help_all_is_everything(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main((*words, "--help")) == 0
    short = capsys.readouterr().out
    assert main((*words, "--help", "--all")) == 0
    whole = capsys.readouterr().out
    whole, *of_bots = whole.split("\nOptions of ")
    assert [listed(each)[0] for each in of_bots] == (["--url"] if words in ((), ("play",)) else [])
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


def test_play_gate_and_tournament_run_have_options_beyond_the_short_help() -> None:
    """The count above would be worth little if nothing were left out."""
    for words in (("play",), ("gate",), ("tournament", "run")):
        of = topic(app, words)
        assert len(listed(explained(of, 100, False))) == MOST < len(listed(explained(of, 100, True)))


@pytest.mark.slow
def test_help_explains_the_options_of_a_language_model_that_the_page_lists() -> None:
    page = (HOME / "docs/how-to/language-models.md").read_text("utf-8")
    listed = re.findall(r"^\| `(--[a-z-]+)", page, re.MULTILINE)
    explained = topic(app, ("play",)).more["Options of a language model"]
    assert [entry.split()[0] for entry in explained] == listed
    assert all(text.endswith(".") for text in explained.values())


@pytest.mark.slow
def test_the_reference_has_every_option_and_every_name_of_a_limit() -> None:
    page = reference(app)
    for command in topics(app):
        (section,) = [part for part in page.split("\n## ") if part.startswith(f"{command.name}\n")]
        for entry in [each for group in (*command.groups.values(), *command.more.values()) for each in group]:
            assert f"| `{entry}` |".replace("|", "\\|")[1:-2] in section


@pytest.mark.parametrize("words", COMMANDS[1:], ids=" ".join)
def test_every_command_has_a_line_in_the_help_of_the_one_above(words: tuple[str, ...]) -> None:
    sentence = topic(app, words[:-1]).commands[words[-1]]
    assert 10 < len(sentence) <= 56, "a line of 80 columns"


def test_the_short_form_of_a_match_explains_a_match(capsys: pytest.CaptureFixture[str]) -> None:
    main(("--game", "tictactoe", "@random", "@random", "--help"))
    short_form = capsys.readouterr().out
    main(("play", "--help"))
    assert short_form == capsys.readouterr().out


def test_the_defaults_in_the_help_are_those_of_the_limits() -> None:
    for each in (*LIMITS, *BUILDS):
        assert each.parse(each.default, each.name) == getattr(Limits(), each.member)
    assert LimitOptions().limits() == Limits()


def test_the_last_value_of_a_limit_counts() -> None:
    limits = LimitOptions(limit=("startup=3s", "pause=true", "startup=4s"), build=("offline=true",)).limits()
    assert (limits.startup_s, limits.pause, limits.build_network) == (4.0, True, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (LimitOptions(limit=("start_up=3s",)), "start_up=3s: there is no limit 'start_up'; did you mean startup?"),
        (LimitOptions(limit=("exit-time=3s",)), "did you mean exit_time?"),
        (LimitOptions(limit=("memory=1G",)), "--limit memory=1G: there is no limit 'memory'; use --memory"),
        (LimitOptions(limit=("startup",)), "--limit startup: expected startup=VALUE"),
        (LimitOptions(limit=("startup=x",)), "--limit startup=x: expected a time above zero"),
        (LimitOptions(limit=("pause=yes",)), "--limit pause=yes: expected true or false"),
        (LimitOptions(limit=("on_noise=x",)), "--limit on_noise=x: expected charge, forgive, replay"),
        (LimitOptions(build=("zzz=1",)), "expected NAME=VALUE with one of time, memory, processes, disk, offline"),
        (
            LimitOptions(build=("time=none",)),
            "--build time=none: expected a value, since this limit cannot be switched off",
        ),
    ],
)
def test_a_wrong_limit_is_refused(options: LimitOptions, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        options.limits()
    assert message in str(caught.value)


@pytest.mark.parametrize("words", [("play",), ("check",), ("gate",)], ids=" ".join)
def test_an_option_of_the_rules_points_to_set(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    names = {name for game in registry.names() for name in option_names(registry.game(game))} - {"map"}
    for name in names:
        option = f"--{name.replace('_', '-')}"
        assert main((*words, "a", "b", "--game", "tictactoe", option, "3")) == 2
        assert f"there is no option {option}; use --set {name}=VALUE" in capsys.readouterr().err
