"""A new game in each language builds, passes its own tests and the check, and plays."""

import json
import subprocess
from pathlib import Path

import pytest
from kits import need
from test_new_bots import not_ignored, run

from referee.addons.rules import new as new_rules
from referee.addons.rules.source import SOURCE
from referee.harness.cli.main import main
from referee.harness.new import write as new

GAME = "pawns"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("lang", new_rules.languages())
def test_a_new_game_plays_and_passes_its_own_tests_and_the_check(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if lang != "python":
        need(lang)
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--rules", GAME, "--lang", lang]) == 0
    folder, bot = tmp_path / GAME, f"./{GAME}/{new_rules.bot(lang)}"
    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    kit = new.kits()[lang]
    assert kit.rules is not None
    try:
        run(kit.rules.test, folder)
        assert not_ignored(folder) == written, "built files would be handed in with the game"
        for width in ("3", "7"):
            argv = ["--game", f"./{GAME}", "--set", f"width={width}", "--games", "2", "--strict", bot, "@first"]
            assert main(argv) == 0, capsys.readouterr()
        assert main(["check", "--game", f"./{GAME}", "--seed", "1"]) == 0, capsys.readouterr()
    finally:
        SOURCE.forget()


@pytest.mark.parametrize("lang", new_rules.languages())
def test_the_types_of_a_new_game_are_those_of_its_schemas(lang: str, tmp_path: Path) -> None:
    new_rules.write(GAME, lang, tmp_path / GAME)
    schemas = {path.stem: json.loads(path.read_text("utf-8")) for path in (tmp_path / GAME / "schemas").iterdir()}
    assert schemas.keys() == {"position", "play", "move", "moved"}
    text = (tmp_path / GAME / "game.toml").read_text("utf-8")
    assert all(f'"schemas/{name}.json"' in text for name in schemas)


def test_the_readme_of_a_new_game_plays_and_verifies_a_match_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new_rules.write(GAME, "python", tmp_path / GAME)
    monkeypatch.chdir(tmp_path / GAME)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    lines = [line for line in Path("README.md").read_text("utf-8").splitlines() if line.startswith("    referee ")]
    try:
        for words in [line.split()[1:] for line in lines if line.split()[1] not in ("view", "check")]:
            assert main(words) == 0, capsys.readouterr()
        assert "verified" in capsys.readouterr().out
        SOURCE.forget()
        assert main(["replay", "verify", f"replays/{GAME}.jsonl"]) == 2
        assert "is not on this machine; name its folder with --game" in capsys.readouterr().err
    finally:
        SOURCE.forget()


def test_a_kit_without_a_rules_half_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "--rules", GAME, "--lang", "go"]) == 2
    assert "no rules half for 'go' in the starter kits; there are cpp, java" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rules", GAME], "choose a language with --lang: cpp, java"),
        (["--rules", "Pawns", "--lang", "python"], "expected a name of lower-case letters, digits and _"),
        (["--rules", "../x", "--lang", "python"], "expected a name of lower-case letters, digits and _"),
        (["--rules", "tictactoe", "--lang", "python"], "there is a game of this name already"),
        (["tictactoe", "--rules", GAME, "--lang", "python"], "--rules writes a game of its own; leave out tictactoe"),
    ],
)
def test_what_no_game_can_be_called_is_refused(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", *words]) == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_something_in_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / GAME).mkdir()
    (tmp_path / GAME / "mine").touch()
    assert main(["new", "--rules", GAME, "--lang", "python"]) == 2
    assert f"{GAME} exists and is not an empty folder" in capsys.readouterr().err
    assert subprocess.run(["ls", GAME], capture_output=True, text=True, check=True).stdout == "mine\n"
