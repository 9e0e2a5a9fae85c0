"""A new bot in each language builds, passes its own tests, plays, and passes `referee check`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kits import need

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.new import write as new
from referee.harness.programs.spec import entrant

FIRST = "tictactoe"


def run(command: str | list[str], cwd: Path) -> None:
    """Runs a command in a new bot's folder, and shows its output if it fails."""
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    done = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    assert done.returncode == 0, done.stdout


def not_ignored(folder: Path) -> set[str]:
    """Returns the files that git would add."""
    run("git init --quiet", folder)
    argv = ["git", "ls-files", "--others", "--exclude-standard"]
    return set(subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines())


def new_bot(lang: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes a bot and enters its folder."""
    if lang != "python":
        need(lang)
    new.write(registry.game(FIRST), lang, folder)
    monkeypatch.chdir(folder)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_plays_and_passes_the_check(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / FIRST
    new_bot(lang, folder, monkeypatch)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert main(["--game", FIRST, "--seed", "1", "--strict", ".", "@random"]) == 0, capsys.readouterr()
    assert main(["check", ".", "--game", FIRST, "--seed", "1"]) == 0, capsys.readouterr()
    assert not_ignored(folder) == written, "built files would be handed in with the bot"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_passes_its_own_tests_and_those_of_other_games_compile(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / FIRST
    new_bot(lang, folder, monkeypatch)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    run(new.kits()[lang].test, folder)
    assert not_ignored(folder) == written, "files of its tests would be handed in with the bot"
    built = entrant(str(folder)).cwd
    for game in new.games(lang, new.kits()[lang]):
        if game != FIRST:
            new.write(registry.game(game), lang, tmp_path / game)
            COMPILE[lang](tmp_path / game, folder if lang == "rust" else built)


# For each language, the quickest way to compile a bot, with what was fetched and built for the first one.


def _python(bot: Path, first: Path) -> None:
    run(new.kits()["python"].test, bot)


def _c(bot: Path, first: Path) -> None:
    run("make -s check", bot)


def _cpp(bot: Path, first: Path) -> None:
    run("g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -Iinclude bot.cpp", bot)


def _java(bot: Path, first: Path) -> None:
    sources = [str(path.relative_to(bot)) for path in bot.glob("src/main/**/*.java")]
    run(
        [
            "javac",
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            "-d",
            "classes",
            "-cp",
            str(first / "target" / "bot.jar"),
            *sources,
        ],
        bot,
    )


def _javascript(bot: Path, first: Path) -> None:
    shutil.copytree(first / "node_modules", bot / "node_modules", symlinks=True, copy_function=os.link)
    run("npm run --silent build", bot)


def _go(bot: Path, first: Path) -> None:
    run("go vet .", bot)


def _rust(bot: Path, first: Path) -> None:
    """Checks all bots where the tests of the first one ran, so that the packages they need are read once."""
    shutil.copytree(bot, first, dirs_exist_ok=True)
    run("cargo check --quiet --release", first)


COMPILE = {
    "c": _c,
    "cpp": _cpp,
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "python": _python,
    "rust": _rust,
}
