"""A zip file is a bot, as it is handed in and as a tournament keeps it."""

import zipfile
from pathlib import Path

import msgspec
import pytest

from referee.addons.tournament.plan import Entry
from referee.addons.tournament.store.bot_archives import Found, archive_path, finding, install, is_installed, store
from referee.harness.common.errors import RunError, UsageError
from referee.harness.programs import archive
from referee.harness.programs.bot_file import BotFile, read_bot_file
from referee.harness.programs.spec import entrant

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


def kept_in(folder: Path, kind: str) -> tuple[Found, str]:
    """Keeps a bot in the tournament `cup`; returns it and its game."""
    spec, files = KEPT[kind]
    game = "reantics" if "agent" in kind else "tictactoe"
    for name, content in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content)
        Path(name).chmod(0o755 if content.startswith("#!") else 0o644)
    with finding([spec], game, [str(folder)]) as (found,):
        store(found, folder / "cup")
    return found, game


@pytest.mark.parametrize("kind", KEPT)
def test_a_version_that_a_tournament_keeps_is_a_bot(kind: str, tmp_path: Path) -> None:
    found, game = kept_in(tmp_path, kind)
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


@pytest.mark.parametrize("kind", KEPT)
def test_an_archive_whose_content_is_not_that_of_its_hash_is_never_installed(kind: str, tmp_path: Path) -> None:
    found, _ = kept_in(tmp_path, kind)
    kept = archive_path(tmp_path / "cup", found.entry)
    good = kept.read_bytes()
    for name in ("build/more.txt", "more.txt"):  # also where a bot's own build results would be
        with zipfile.ZipFile(kept, "a") as changed:
            changed.writestr(f"bot/{name}", "")
        with pytest.raises(RunError, match="has other content than its name"):
            install(found.entry, kept)
        assert not is_installed(found.entry)
        kept.write_bytes(good)
    install(found.entry, kept)
    assert is_installed(found.entry)


@pytest.mark.parametrize(
    "change",
    [
        {"hash": "../ladder"},
        {"hash": "A" * 64},
        {"hash": "a" * 64 + "\n"},
        {"ident": "../x"},
        {"inside": "../x"},
        {"inside": "a/.."},
        {"inside": "/bin/sh"},
        {"bot": ""},
        {"bot": "a\0b"},
        {"cwd": "a\0b"},
    ],
    ids=str,
)
def test_what_a_file_says_of_a_bot_leads_out_of_no_folder(change: dict[str, str]) -> None:
    entry = {"name": "a", "ident": "a" * 10, "hash": "a" * 64, "bot": "mine"}
    assert msgspec.convert({**entry, "inside": "a..b/.c"}, Entry).inside == "a..b/.c"
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**entry, **change}, Entry)


def test_the_patterns_of_exclude_cost_little() -> None:
    Path("mine/a").mkdir(parents=True)
    for name in ("bot.toml", "a/keep.txt", "a/drop.tmp", "drop.o"):
        Path("mine", name).write_text("")
    files = BotFile(exclude=["a/*.tmp", "*.o"]).files(Path("mine").resolve(), "mine").files
    assert [file.path for file in files] == ["a/keep.txt", "bot.toml"]
    long = "x" * 1001
    for value in (
        f"exclude = {['*.o'] * 101}",
        f"exclude = ['{long[:201]}']",
        f"bundle = '{long}'",
        f"name = '{long}'",
    ):
        Path("mine/bot.toml").write_text(f"{TOML}{value}\n")
        with pytest.raises(UsageError, match=f"{value.split()[0]}.*: expected .* of length <= ") as caught:
            read_bot_file(Path("mine"), "mine")
        assert len(str(caught.value)) < 100
    deep = Path("mine", *["a" * 250] * 3)
    deep.mkdir(parents=True)
    for number in range(200):
        (deep / f"{number:0250}").touch()
    with pytest.raises(UsageError, match="exclude has too many patterns for so many files"):
        archive.read(Path("mine"), ["*" + "[ab]" * 48 + "c"] * 100)
