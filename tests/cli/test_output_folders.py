"""No command replaces or removes a file of the user's: each is tried with one in every place that it writes to."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from contests import tournament
from ladders import Cup

from referee.addons.ladder.new import commit_bot
from referee.addons.tournament.inbox import settle_if_free
from referee.addons.tournament.plan import read_plan, write_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.tournament.store.reader import counted_lines
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.output import whole_file
from referee.harness.replay.fault_report import DETAILS, fault_report_folder, remove_fault_reports

pytestmark = pytest.mark.slow

GAME = ("--game", "tictactoe")
PAIR = (*GAME, "@random", "@baseline")
WRITERS: list[tuple[str, ...]] = [
    ("tournament", "page", "cup", "--viewed", "1", "--to", "to"),
    ("tournament", "run", *PAIR, "--games", "2", "--jobs", "1", "--ledger", "to"),
    ("tournament", "merge", "to", "cup"),
    ("tournament", "prepare", "in", *GAME, "--into", "to"),
    ("ladder", "publish", "to", "--commit", "main", "--folder", "clone"),
    ("ladder", "new", "to", *GAME, "--install", "git+https://example.org/referee@" + 40 * "a"),
    ("export", "problem", *GAME, "--against", "@random", "--into", "to"),
    ("new", "tictactoe", "to", "--lang", "python"),
    ("new", "--rules", "to", "--lang", "python"),
    ("host", "restore", "cup.tar", "to"),
    ("gate", "@random", "@baseline", *GAME, "--max-games", "2", "--jobs", "1", "--ledger", "to"),
]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the commands read."""
    folder = tmp_path_factory.mktemp("there")
    tournament(folder, *PAIR, "--games", "4", "--seed", "1", "--ledger", folder / "cup")
    with Cup(folder / "clone") as cup:
        cup.add_bots("ada bob")
    (folder / "in").mkdir()
    for path in (folder / "bot.py", folder / "in" / "ada.py"):
        path.write_text("import random\n")
    return folder


def run(there: Path, folder: Path, words: tuple[str, ...], plant: Callable[[Path], None]) -> Path:
    """Runs a command in a copy of `there` with the user's files in `to`. Returns that folder."""
    shutil.copytree(there, folder, symlinks=True)
    os.chdir(folder)
    plant(folder / "to")
    main(words)
    return folder / "to"


@pytest.mark.parametrize("words", WRITERS, ids=[" ".join(words[:2]) for words in WRITERS])
def test_a_file_of_the_user_stays_wherever_a_command_writes(
    there: Path, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file of each folder and of each kind is tried."""
    monkeypatch.chdir(tmp_path)
    written = run(there, tmp_path / "first", words, lambda to: None)
    names = {path.relative_to(written) for path in written.rglob("*") if path.is_file() and ".git" not in path.parts}
    places = {(name.parts[:-1][:1], name.suffix): name for name in sorted(names)}
    for number, place in enumerate(sorted(places.values())):

        def plant(to: Path, place: Path = place) -> None:
            (to / place).parent.mkdir(parents=True)
            (to / place).write_text("mine")

        to = run(there, tmp_path / str(number), words, plant)
        assert (to / place).read_text() == "mine", place
    assert places or words[0] == "host"


@pytest.mark.parametrize("place", ["bots/ada/notes.txt", "home/ada/notes.txt"])
def test_entering_a_bot_replaces_only_what_is_committed(tmp_path: Path, place: str) -> None:
    with Cup(tmp_path / "clone") as cup:
        file, new = cup.repository.folder / place, tmp_path / "new" / "ada"
        for path in (file, new / "bot.toml"):
            path.parent.mkdir(parents=True)
            path.write_text("mine")
        if place.startswith("home"):
            (cup.repository.folder / "bots").symlink_to("home")
        with pytest.raises(UsageError, match=r"not committed|a link"):
            commit_bot(cup.repository, new)
        assert file.read_text() == "mine"


def test_a_file_of_the_user_in_a_fault_report_stays(tmp_path: Path) -> None:
    report = fault_report_folder(tmp_path / "match.jsonl", 0, 1)
    report.mkdir()
    for name in (DETAILS, "notes.txt"):
        (report / name).write_text("{}")
    with pytest.raises(RunError, match="cannot be removed"):
        remove_fault_reports(tmp_path / "match.jsonl", 1)
    assert [path.name for path in report.iterdir()] == ["notes.txt"]


def test_a_plan_of_a_stranger_removes_no_file_outside_of_its_folder(there: Path, tmp_path: Path) -> None:
    shutil.copytree(there / "cup", tmp_path / "cup")
    (tmp_path / "mine").write_text("mine")
    plan = read_plan(tmp_path / "cup" / PLAN)
    write_plan(plan.replaced(applied=("../../mine",)), tmp_path / "cup" / PLAN)
    assert settle_if_free(tmp_path / "cup") and (tmp_path / "mine").exists()


WHOLE: list[tuple[str, ...]] = [
    ("replay", "html", "match.jsonl", "to", "--force"),
    ("replay", "export", "aiarena21-replay", "match.jsonl", "to"),
    ("tournament", "show", "cup", "--sqlite", "to"),
    ("tournament", "replay", "cup", "KEY", "to"),
    ("check", "bot.py", *GAME, "--only", "builds", "--junit", "to"),
]


@pytest.mark.parametrize("words", WHOLE, ids=[" ".join(words[:2]) for words in WHOLE])
def test_a_file_is_written_to_what_a_link_or_a_device_stands_for(
    there: Path, tmp_path: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To replace /dev/stdout would break the machine of an organiser who is root."""
    shutil.copytree(there, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    game = "aiarena21" if "aiarena21-replay" in words else "tictactoe"
    assert main(["--game", game, "@random", "@random", "--replay", "match.jsonl"]) == 0
    key = next(line.k for _, line in counted_lines(Path("cup")))
    words = tuple(key if word == "KEY" else word for word in words)

    def runs(expected: int | None = None) -> bytes:
        code = main(words)
        assert expected is None or code == expected
        return Path("target").read_bytes()

    Path("target").write_text("mine")
    Path("to").symlink_to("target")
    assert runs() not in (b"mine", b"") and Path("to").is_symlink()
    Path("to").unlink()
    Path("to").symlink_to("/dev/null")
    runs()
    assert Path("to").is_symlink() and Path("/dev/null").is_char_device()
    Path("to").unlink()
    os.mkfifo("to")
    runs(3)
    assert Path("to").is_fifo()


def test_a_file_that_cannot_be_written_whole_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link").symlink_to("target")
    for name in ("target", "link"):
        with pytest.raises(ZeroDivisionError), whole_file(tmp_path / name) as new:
            new.write_text("half")
            raise ZeroDivisionError
    assert (tmp_path / "target").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "target"]
