"""A zip file is a bot, as it is handed in and as a tournament keeps it."""

import zipfile
from pathlib import Path

import pytest

from referee.harness.errors import UsageError
from referee.harness.programs.spec import entrant
from referee.harness.tournament.store.bot_archives import archive_path, finding, store

TOML = 'run = ["sh", "run.sh"]\n'
ANT = "from helper import AIPlayer\n"
KEPT: dict[str, tuple[str, dict[str, str]]] = {
    "a single file": ("mine.py", {"mine.py": "", "other.py": "secret"}),
    "a program": ("mine", {"mine": "#!/bin/sh\n"}),
    "a folder": ("mine", {"mine/bot.toml": TOML, "mine/run.sh": ""}),
    "a folder in its bundle": ("all/mine", {"all/mine/bot.toml": f'{TOML}bundle = ".."\n', "all/lib/a.txt": "a"}),
    "an agent with modules above": ("AI/mine.py", {"AI/mine.py": ANT, "helper.py": "class AIPlayer: pass\n"}),
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("kind", KEPT)
def test_a_version_that_a_tournament_keeps_is_a_bot(kind: str, tmp_path: Path) -> None:
    spec, files = KEPT[kind]
    game = "reantics" if "agent" in kind else "tictactoe"
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)
        Path(name).chmod(0o755 if content.startswith("#!") else 0o644)
    with finding([spec], game, [str(tmp_path)]) as (found,):
        store(found, tmp_path / "cup")
    kept = archive_path(tmp_path / "cup", found.entry)
    with finding([str(kept)], game) as (again,):
        assert (again.entry.hash, again.entry.inside) == (found.entry.hash, found.entry.inside)
    played = entrant(str(kept), game)
    assert played.cwd.is_relative_to(tmp_path / "cache")
    assert [path.name for path in played.cwd.rglob("other.py")] == []
    assert again.entry.name == played.name == ("mine" if found.entry.inside != "." else kept.stem)


@pytest.mark.parametrize(
    "path", [b"../secret", b"/etc/passwd", b"..", b"a\0b", b"missing", b"\xff", b"x" * 5000], ids=lambda path: path[:9]
)
def test_the_comment_of_a_zip_file_names_a_file_in_it(path: bytes) -> None:
    Path("secret").write_text("#!/bin/sh\n")
    with zipfile.ZipFile("bot.zip", "w") as archive:
        archive.writestr("a/mine.py", "")
        archive.comment = b"referee plays: " + path
    with pytest.raises(UsageError, match="its comment names"):
        entrant("bot.zip", "tictactoe")
    with pytest.raises(UsageError, match="its comment names"), finding(["bot.zip"], "tictactoe"):
        pass


def test_a_zip_file_that_is_none_or_has_no_bot_is_a_line_for_the_user() -> None:
    Path("text.zip").write_text("no zip")
    with zipfile.ZipFile("empty.zip", "w"):
        pass
    for spec, why in (("text.zip", "cannot be unpacked"), ("empty.zip", "empty.zip is a folder without a bot.toml")):
        with pytest.raises(UsageError, match=why):
            entrant(spec, "tictactoe")
        with pytest.raises(UsageError), finding([spec], "tictactoe"):
            pass
