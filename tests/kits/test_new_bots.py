"""A new bot in every language: it builds, passes its own tests, plays, and may be handed in as it is."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from kits import need

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.new import write as new
from referee.harness.programs.spec import entrant

FIRST = "tictactoe"

Made = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Gives the new bot in a language for a game, the same one every time."""
    folders = {}

    def make(lang: str, game: str) -> Path:
        if (lang, game) not in folders:
            if lang != "python":
                need(lang)
            folder = tmp_path_factory.mktemp(lang) / game
            new.write(registry.game(game), lang, folder)
            folders[lang, game] = folder
        return folders[lang, game]

    return make


def run(command: str | list[str], cwd: Path) -> None:
    """Runs a command in a new bot's folder. What it printed is shown if it fails."""
    argv = ["/bin/sh", "-c", command] if isinstance(command, str) else command
    done = subprocess.run(argv, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=200)
    assert done.returncode == 0, done.stdout


def not_ignored(folder: Path) -> set[str]:
    """The files that git would take."""
    run("git init --quiet", folder)
    argv = ["git", "ls-files", "--others", "--exclude-standard"]
    return set(subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines())


@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_plays_tests_itself_and_passes_the_check(
    lang: str, made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = made(lang, FIRST)
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.chdir(folder)
    assert main(["--game", FIRST, "--seed", "1", "--strict", ".", "@random"]) == 0, capsys.readouterr()
    run(new.kits()[lang].test, folder)
    assert main(["check", ".", "--game", FIRST, "--seed", "1"]) == 0, capsys.readouterr()
    assert not_ignored(folder) == written, "what was built would be handed in with the bot"


@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_of_every_other_game_compiles(lang: str, made: Made) -> None:
    first = entrant(str(made(lang, FIRST))).cwd  # built, if the test above has not
    for game in new.games(lang, new.kits()[lang]):
        if game != FIRST:
            COMPILE[lang](made(lang, game), first)


# The quickest way to have a compiler read all of a bot; what was fetched and built for the first one is used again.


def _python(bot: Path, first: Path) -> None:
    run(new.kits()["python"].test, bot)


def _c(bot: Path, first: Path) -> None:
    run("make -s check", bot)


def _cpp(bot: Path, first: Path) -> None:
    run("g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -Iinclude bot.cpp", bot)


def _java(bot: Path, first: Path) -> None:
    sources = [str(path.relative_to(bot)) for path in bot.glob("src/main/**/*.java")]
    run(["javac", "-d", "classes", "-cp", str(first / "target" / "bot.jar"), *sources], bot)


def _javascript(bot: Path, first: Path) -> None:
    shutil.copytree(first / "node_modules", bot / "node_modules", symlinks=True, copy_function=os.link)
    run("npm run --silent build", bot)


def _go(bot: Path, first: Path) -> None:
    run("go vet .", bot)


def _rust(bot: Path, first: Path) -> None:
    """In one place for all: the crate of the kit is the same for all games, and compiled once."""
    place = bot.parent.parent / "rust_place"
    shutil.copytree(bot, place, dirs_exist_ok=True)
    run("cargo check --quiet", place)


COMPILE = {
    "c": _c,
    "cpp": _cpp,
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "python": _python,
    "rust": _rust,
}
