"""Engines as bot specs: `uci:`, `ugi:`, `gtp:` and `cecp:`."""

import sys
from pathlib import Path

import pytest

from referee.addons.engines.command import RUNNER, shown
from referee.addons.tournament.store.bot_archives import check_travel, finding
from referee.harness.common.errors import RunError, UsageError
from referee.harness.isolation.visible_paths import required_paths
from referee.harness.languages import toolchains
from referee.harness.languages.packages import how_to_install
from referee.harness.programs.debuggers import crash_advice
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant

CHESS = "openspiel:chess"


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns an engine in another folder than the working folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = tmp_path / "engines" / "mine"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def after_the_runner(bot: Entrant) -> tuple[str, ...]:
    assert bot.argv[:3] == (sys.executable, "-P", str(RUNNER))
    return bot.argv[3:]


def test_an_engine_is_a_path_and_runs_in_its_folder(engine: Path) -> None:
    bot = entrant(f"uci:{engine}", CHESS)
    assert (bot.name, bot.cwd) == ("mine", engine.parent)
    assert after_the_runner(bot) == ("uci", "--", str(engine))


def test_an_engine_is_a_command_line_and_runs_in_the_working_folder(engine: Path) -> None:
    bot = entrant(f"theirs=gtp:{engine} --mode 'a b'", "openspiel:go")
    assert (bot.name, bot.cwd) == ("theirs", Path.cwd())
    assert after_the_runner(bot) == ("gtp", "--", str(engine), "--mode", "a b")


def test_a_program_on_path_comes_before_a_folder_of_its_name(engine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(engine.parent))
    Path("mine").mkdir()
    assert after_the_runner(entrant("uci:mine", CHESS)) == ("uci", "--", str(engine))
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=r"bot\.toml"):
        entrant("uci:mine", CHESS)


def test_an_engine_is_a_source_file(engine: Path) -> None:
    source = engine.with_suffix(".py")
    source.write_text("")
    assert after_the_runner(entrant(f"ugi:{source}", CHESS)) == ("ugi", "--", sys.executable, str(source))


def test_options_come_first_in_their_order(engine: Path) -> None:
    spec = f"uci:--nodes 10 --option 'Skill Level=3' --option Hash=64 --debug --overhead=0 {engine}"
    options = ("--nodes", "10", "--option", "Skill Level=3", "--option", "Hash=64", "--debug", "--overhead", "0")
    assert after_the_runner(entrant(spec, CHESS)) == ("uci", *options, "--", str(engine))


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("uci:", "uci:: expected an engine, as in uci:stockfish"),
        ("gtp:--nodes 5 x", "gtp: has no option --nodes; it has --overhead, --debug"),
        ("uci:--depth two x", "uci:--depth two x: --depth two: expected a whole number"),
        ("uci:--nodes 0 x", "uci:--nodes 0 x: --nodes 0: expected 1 or more"),
        ("uci:--depth", "uci:--depth: --depth: expected a value after it"),
        ("uci:no-such-engine", "there is no program 'no-such-engine'; check the path, or put it on PATH"),
        ("uci:'x", "No closing quotation"),
    ],
)
def test_a_wrong_spec_is_refused_in_one_line(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        entrant(spec, "openspiel:go" if spec.startswith("gtp:") else CHESS)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_an_engine_plays_no_game_but_openspiels(engine: Path) -> None:
    with pytest.raises(UsageError, match=r"engines play OpenSpiel's games, such as openspiel:chess, not tictactoe"):
        entrant(f"uci:{engine}", "tictactoe")


def test_a_missing_engine_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchains, "GAMES", ())
    monkeypatch.setenv("PATH", "/nowhere")
    toolchains.forget()
    with pytest.raises(RunError) as error:
        entrant("cecp:fairymax", CHESS)
    monkeypatch.undo()
    toolchains.forget()
    message = str(error.value)
    assert message.startswith("cecp:fairymax needs fairymax, which is not on this machine; to install it: ")
    assert "apt-get install fairymax" in message and "\n" not in message


def visible(argv: tuple[str, ...], cwd: Path) -> list[str]:
    return required_paths(argv, cwd, "", tuple(shown(argv)))


def test_isolation_shows_the_engines_folder_and_the_paths_among_its_options(engine: Path, tmp_path: Path) -> None:
    (tmp_path / "nets").mkdir()
    net = tmp_path / "nets" / "net.nnue"
    net.write_text("")
    bot = entrant(f"uci:--option EvalFile={net} {engine}", CHESS)
    without = (*bot.argv[:4], "--", str(engine))
    assert {str(engine.parent), str(net.parent)} <= {*visible(bot.argv, bot.cwd)}
    assert str(net.parent) not in visible(without, bot.cwd)
    assert str(engine) in shown(without)


@pytest.mark.parametrize("words", [[], ["uci"], ["uci", "--option"], ["uci", "--option", "x"], ["--"]])
def test_a_command_that_is_cut_off_shows_nothing_more(words: list[str]) -> None:
    assert shown((sys.executable, "-P", str(RUNNER), *words)) == []


def test_a_tournament_names_engines_as_a_match_does(engine: Path) -> None:
    specs = [f"uci:--nodes 5 {engine}", f"cecp:--depth 1 {engine}", f"uci:sh {engine} -x", f"its=uci:{engine}"]
    with finding(specs, CHESS) as found:
        assert [each.entry.name for each in found] == ["mine", "mine", "mine", "its"]
        assert len({each.entry.hash for each in found}) == 4
        with pytest.raises(UsageError, match="stay on this machine"):
            check_travel([found[0].entry])


def test_the_engines_of_the_tests_can_be_installed() -> None:
    assert all(how_to_install([name]) for name in ("stockfish", "gnugo", "fairymax"))


def test_the_advice_is_about_the_engine_and_not_about_the_program_that_runs_it() -> None:
    command = entrant("uci:sh", CHESS).argv
    assert "faulthandler" in crash_advice(command[:1])
    assert "-fsanitize" in crash_advice(command) and "gdb" not in crash_advice(command)
