"""A new game in each language builds, passes its own tests and the check, and plays."""

import json
from pathlib import Path

import pytest
from kits import folder_of, need, run_own_tests

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
    need(lang)
    monkeypatch.chdir(tmp_path)
    new_rules.write(GAME, lang, tmp_path / GAME)
    folder, kit = folder_of(GAME, tmp_path / GAME), new.kits()[lang]
    assert kit.rules is not None
    try:
        run_own_tests(kit.rules.test, folder)
        bot = str(folder / new_rules.bot(lang))
        argv = ["--game", str(folder), "--set", "width=7", "--games", "2", "--strict", bot, "@first"]
        assert main(argv) == 0, capsys.readouterr()
        assert main(["check", "--game", str(folder), "--seed", "1"]) == 0, capsys.readouterr()
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
    monkeypatch.chdir(tmp_path)
    assert main(["new", "--rules", GAME, "--lang", "python"]) == 0
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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rules", GAME, "--lang", "go"], "no rules half for 'go' in the starter kits; there are cpp, java"),
        (["--rules", GAME], "choose a language with --lang: cpp, java"),
        (["--rules", "Pawns", "--lang", "python"], "expected a name of lower-case letters, digits and _"),
        (["--rules", "../x", "--lang", "python"], "expected a name of lower-case letters, digits and _"),
        (["--rules", "tictactoe", "--lang", "python"], "there is a game of this name already"),
        (["tictactoe", "--rules", GAME, "--lang", "python"], "--rules writes a game of its own; leave out tictactoe"),
        (["--rules", "taken", "--lang", "python"], "taken exists and is not an empty folder"),
    ],
)
def test_a_game_that_cannot_be_written_is_refused_and_nothing_is_written(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").touch()
    assert main(["new", *words]) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "mine"]
