"""A tournament as one file: it is checked without the folder, and its best bots play in another contest."""

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from contests import referee
from hosted import Team, contest
from submissions import zipped

from referee.addons.host import reference_bots, teams
from referee.addons.host.store import Store
from referee.addons.tournament.reports import tournament_archive
from referee.addons.tournament.store.ledger import PLAN
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def archived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the archive of a tournament between two bots."""
    folder = tmp_path_factory.mktemp("archived")
    ann, bob = zipped(folder / "files" / "ann.zip", 1), zipped(folder / "files" / "bob.zip", 2)
    command = ["tournament", "run", f"ann={ann}", f"bob={bob}", "--game", "tictactoe", "--games", "4", "--jobs", "1"]
    referee(folder, *command, "--no-pin", "--ledger", "cup")
    (folder / "cup" / "host.sqlite").write_text("teams and sessions")
    referee(folder, "tournament", "archive", "cup", "last.zip")
    return folder / "last.zip"


def test_an_archive_has_games_bots_and_pages_and_is_verified_without_the_folder(archived: Path, tmp_path: Path) -> None:
    names = zipfile.ZipFile(archived).namelist()
    assert {PLAN, "site/index.html", tournament_archive.MANIFEST} <= {*names}
    assert [name for name in names if name.startswith("bots/")] and [
        name for name in names if name.startswith("ledger/")
    ]
    assert not [name for name in names if "host.sqlite" in name or "author" in name]
    said = referee(tmp_path, "tournament", "verify", archived)
    assert "its files are those that were archived" in said and "4 games verified, 0 differ" in said
    assert "in the tournament's folder" in referee(
        archived.parent, "tournament", "archive", "cup", "cup/again.zip", code=2
    )


CHANGES: dict[str, tuple[str, Callable[[str, bytes], bytes | None]]] = {
    "changed": ("is not what was archived", lambda name, data: data + b" " if name == PLAN else data),
    "missing": ("is missing", lambda name, data: None if name == "site/index.html" else data),
    "no manifest": ("is no archive", lambda name, data: None if name == tournament_archive.MANIFEST else data),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_archive_is_refused_in_a_line(change: str, archived: Path, tmp_path: Path) -> None:
    why, changed = CHANGES[change]
    with zipfile.ZipFile(archived) as old, zipfile.ZipFile(tmp_path / "new.zip", "w") as new:
        for name in old.namelist():
            if (data := changed(name, old.read(name))) is not None:
                new.writestr(name, data)
    assert why in referee(tmp_path, "tournament", "verify", "new.zip", code=2)


def test_an_archive_with_more_files_than_its_manifest_is_refused(archived: Path, tmp_path: Path) -> None:
    copy = tmp_path / "new.zip"
    copy.write_bytes(archived.read_bytes())
    with zipfile.ZipFile(copy, "a") as archive:
        archive.writestr("bots/more.zip", "x")
    with pytest.raises(UsageError, match=r"bots/more.zip is not in its manifest"), tournament_archive.opened(copy):
        pass


def test_the_best_bots_of_last_year_are_reference_bots(archived: Path, tmp_path: Path) -> None:
    store = Store(contest(tmp_path / "cup"))
    reference_bots.enter_archive(store, archived, 1)
    reference_bots.enter_archive(store, archived, 1)
    (entry,) = teams.reference_bots(store)
    assert entry.name in ("ann of last", "bob of last") and (store.folder / "bots" / f"{entry.hash}.zip").is_file()
    other = Store(contest(tmp_path / "other", "connectfour"))
    with pytest.raises(UsageError, match="is of tictactoe, and this contest of connectfour"):
        reference_bots.enter_archive(other, archived)


def test_an_archive_whose_bot_has_other_files_than_its_hash_says_replaces_no_bot(
    archived: Path, tmp_path: Path
) -> None:
    store = Store(contest(tmp_path / "cup"))
    entry = Team(store, "ann").submit(str(archived.parent / "files" / "ann.zip"))
    kept = store.folder / "bots" / f"{entry.hash}.zip"
    before = kept.read_bytes()
    with zipfile.ZipFile(archived) as old, zipfile.ZipFile(tmp_path / "evil.zip", "w") as new:
        files = {name: old.read(name) for name in old.namelist()}
        (other,) = (name for name in files if name.startswith("bots/") and name != f"bots/{kept.name}")
        files[f"bots/{kept.name}"] = files[other]
        sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        del sums[tournament_archive.MANIFEST]
        files[tournament_archive.MANIFEST] = msgspec.json.encode(sums)
        for name, data in files.items():
            new.writestr(name, data)
    for there in (True, False):
        with pytest.raises(UsageError, match=rf"evil\.zip: bots/{kept.name} has other content than its name says"):
            reference_bots.enter_archive(store, tmp_path / "evil.zip")
        assert [path.name for path in kept.parent.iterdir()] == [kept.name] * there
        assert not there or kept.read_bytes() == before
        kept.unlink(missing_ok=True)
    assert not teams.reference_bots(store)
