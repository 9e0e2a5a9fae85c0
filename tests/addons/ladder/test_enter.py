"""What `ladder enter` commits of a bot, and what it refuses before."""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ladders import INSTALL, Cup
from rules_games import COUNTDOWN, TAKES_ONE

from referee.addons.rules import kept
from referee.addons.rules.source import SOURCE
from referee.games import registry
from referee.harness.cli.main import main
from referee.harness.programs import archive
from referee.harness.programs.packing import pack

pytestmark = pytest.mark.slow

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d7a" * 16 + "\nsize 123456\n"


@pytest.fixture
def cup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ladder, next to a folder with a bot."""
    monkeypatch.chdir(tmp_path)
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    Cup(tmp_path / "cup").__exit__()
    bot = tmp_path / "mine"
    bot.mkdir()
    (bot / "bot.toml").write_text('run = ["python3", "bot.py"]\n')
    (bot / "bot.py").write_text("raise SystemExit(3)\n")
    return tmp_path / "cup"


def enter(bot: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["ladder", "enter", bot, "--owner", "ada", "--folder", "cup"])
    printed = capsys.readouterr()
    return code, " ".join((printed.out + printed.err).split())


def commits(cup: Path) -> int:
    done = subprocess.run(["git", "-C", cup, "rev-list", "--count", "HEAD"], check=True, capture_output=True)
    return int(done.stdout)


def test_files_that_others_cannot_have_are_refused_and_not_committed(
    cup: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, model, modules = commits(cup), Path("mine/model.bin"), Path("mine/.gitmodules")
    model.write_text(POINTER)
    assert enter("mine", capsys) == (2, "referee: mine: model.bin is a pointer of git LFS; include the file itself")
    model.unlink()
    modules.write_text('[submodule "engine"]\n\tpath = lib\n\turl = https://example.org/engine\n')
    assert enter("mine", capsys) == (2, "referee: mine: lib is a submodule without its files; include them")
    Path("one.py").write_text(POINTER)
    assert enter("one.py", capsys) == (2, "referee: one.py is a pointer of git LFS; include the file itself")
    assert commits(cup) == before


def test_a_path_that_is_no_bot_of_a_ladder_is_called_what_it_is(cup: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "missing.py: there is no such file or folder" in enter("missing.py", capsys)[1]
    Path("mine.zip").write_bytes(b"")
    assert "mine.zip is a zip file, which cannot enter a ladder; unpack it" in enter("mine.zip", capsys)[1]
    Path("mine.txt").write_bytes(b"")
    assert "mine.txt: expected a folder with a bot.toml" in enter("mine.txt", capsys)[1]


@pytest.mark.parametrize("bot", ["mine", "crashes.py"])
def test_the_command_that_reproduces_a_refusal_works(bot: str, cup: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("crashes.py").write_text("raise SystemExit(3)\n")
    code, printed = enter(bot, capsys)
    assert code == 1 and "referee-" not in printed
    found = re.search(r"reproduce with: (referee check .*? --only \w+)", printed)
    assert found is not None, printed
    words = shlex.split(found[1])
    assert words[:3] == ["referee", "check", bot] and main(words[1:]) == 1


def files_of(folder: str) -> list[str]:
    done = subprocess.run(
        ["git", "-C", folder, "ls-tree", "-r", "--name-only", "HEAD"], check=True, capture_output=True
    )
    return done.stdout.decode().split()


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a game, with what its author keeps in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("CACHE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    folder = tmp_path / "hexa"
    shutil.copytree(COUNTDOWN, folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / "game.toml"
    file.write_text(file.read_text().replace('"python3"', f'"{sys.executable}"'))
    yield folder
    SOURCE.forget()


def with_private_files(folder: Path) -> None:
    """Adds secrets, and a virtual environment, whose Python is a link that leads outside."""
    for path in (".env", ".ssh/id_rsa", ".npmrc", "venv/pyvenv.cfg", "venv/bin/activate"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("secret")
    (folder / "venv" / "bin" / "python").symlink_to(sys.executable)


NAMED = "left out: .env, .npmrc, .ssh and venv; rename what is needed of it"
NEW = ["ladder", "new", "cup", "--games", "2", "--witnesses", "1", "--beacon", "merge", "--install", INSTALL]


def test_secrets_of_rules_and_bots_are_not_committed_and_named(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = registry.in_folder(str(game)).sha256
    SOURCE.forget()
    with_private_files(game)
    assert main([*NEW, "--game", "./hexa"]) == 0
    assert NAMED in " ".join(capsys.readouterr().out.split())
    (rules,) = (tmp_path / "cup" / "rules").iterdir()
    assert rules.stem == before, "they are no part of the rules"
    with zipfile.ZipFile(rules) as packed:
        assert {Path(name).parts[1] for name in packed.namelist()} == {each.name for each in COUNTDOWN.iterdir()}
    (tmp_path / "mine").mkdir()
    Path("mine", "bot.py").write_text(TAKES_ONE)
    Path("mine", "bot.toml").write_text('run = ["python3", "bot.py"]\ndeterministic = true\n')
    with_private_files(tmp_path / "mine")
    code, printed = enter("mine", capsys)
    assert code == 0 and NAMED in printed and "mine is committed" in printed
    assert [path for path in files_of("cup") if path.startswith("bots/")] == ["bots/mine/bot.py", "bots/mine/bot.toml"]


def test_a_copy_of_rules_that_has_secrets_stays_valid_and_is_not_published(
    game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (game / ".env").write_text("secret")
    content = archive.read(game)
    copy = tmp_path / "old" / "rules" / f"{content.identity}.zip"
    copy.parent.mkdir(parents=True)
    pack("countdown", content, ".", copy)
    (game / ".env").unlink()
    kept.open_kept("countdown", 1, content.identity, tmp_path / "old")
    assert registry.game("countdown").sha256 == content.identity
    SOURCE.forget()
    assert main(["games", "install", str(copy)]) == 0 and kept.is_installed("countdown", content.identity)
    capsys.readouterr()
    assert main([*NEW, "--game", "countdown"]) == 2
    assert ".env, which may be secret; install the game again from its folder" in " ".join(
        capsys.readouterr().err.split()
    )
    SOURCE.forget()
    assert main(["games", "install", str(game)]) == 0 and main([*NEW, "--game", "countdown"]) == 0
