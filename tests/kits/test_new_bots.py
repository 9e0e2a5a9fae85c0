"""A new bot in each language builds, passes its own tests, plays, and passes `referee check`."""

import os
import shutil
from pathlib import Path

import pytest
from kits import locked, need, new_bot, run, run_own_tests

from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.new import write as new
from referee.harness.programs.spec import entrant

FIRST = "tictactoe"
OTHERS = ("reantics", "aiarena21", "aibg5")
"""Games for which a bot needs more files of the kit. All others have the same ones as the first game."""
COMPILE = {
    "c": "make -s check",
    "cpp": "g++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only -Iinclude bot.cpp",
    "go": "go vet .",
    "java": "javac -J-XX:TieredStopAtLevel=1 -d target -cp $BUILT/target/bot.jar $(find src/main -name '*.java')",
    "javascript": "npm run --silent build",
    "python": "python3 -m unittest discover tests",
    "rust": "cargo check --quiet --release --target-dir $TESTED/target",
}
"""The quickest way to compile a bot, with what was fetched and made for the first one."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_passes_its_own_tests_plays_and_passes_the_check(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    need(lang)
    bot = new_bot(lang, registry.game(FIRST))
    run_own_tests(new.kits()[lang].test, bot)
    monkeypatch.chdir(tmp_path)
    assert main(["--game", FIRST, "--seed", "1", "--strict", str(bot), "@random"]) == 0, capsys.readouterr()
    assert main(["check", str(bot), "--game", FIRST, "--seed", "1"]) == 0, capsys.readouterr()


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lang", list(new.kits()))
def test_a_new_bot_of_a_game_with_more_files_of_the_kit_compiles(lang: str) -> None:
    need(lang)
    first = new_bot(lang, registry.game(FIRST))
    built = entrant(str(first)).cwd
    for game in OTHERS:
        bot = new_bot(lang, registry.game(game))
        with locked(first), locked(bot):
            if lang == "javascript" and not (bot / "node_modules").exists():
                shutil.copytree(built / "node_modules", bot / "node_modules", symlinks=True)
            run(COMPILE[lang], bot, os.environ | {"BUILT": str(built), "TESTED": str(first)})
