"""The folder of a site: no file of the user's is replaced or removed."""

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from referee.addons.tournament.reports.site_folder import MARK, SiteFolder, site_folder
from referee.harness.common.errors import RunError, UsageError


def written(folder: Path, *names: str, kind: str = "public") -> SiteFolder:
    """Writes a site of these files, each with its name as content."""
    with site_folder(folder, kind) as site:
        for name in names:
            site.add(name, name.encode())
    return site


def test_a_site_removes_only_what_it_has_written_and_nobody_changed(tmp_path: Path) -> None:
    written(tmp_path / "site", "index.html", "bots/a.html", "bots/b.html", "games/c.html", "author/TOKEN/index.html")
    (tmp_path / "site" / "bots" / "b.html").write_text("changed")
    (tmp_path / "site" / "bots" / "mine").mkdir()
    for name in ("CNAME", "bots/mine/notes.txt", "games/mine.txt"):
        (tmp_path / "site" / name).write_text("mine")
    again = written(tmp_path / "site", "index.html")
    assert sorted(again.kept) == ["bots/b.html", "bots/mine/notes.txt", "games/mine.txt"]
    left = {str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*") if path.is_file()}
    assert left == {MARK, "CNAME", "index.html", *again.kept}
    assert "TOKEN" not in (tmp_path / "site" / MARK).read_text()


def test_a_site_for_other_readers_has_nothing_of_the_first(tmp_path: Path) -> None:
    written(tmp_path, "index.html", "bots/secret.html", kind="organiser")
    SiteFolder(tmp_path, "public")
    assert [path.name for path in tmp_path.iterdir()] == [MARK]


def test_a_site_that_was_ended_in_the_middle_is_written_again(tmp_path: Path) -> None:
    written(tmp_path, "index.html", "bots/a.html")
    SiteFolder(tmp_path, "public").add("index.html", b"newer")
    assert written(tmp_path, "index.html", "bots/a.html").kept == []
    assert (tmp_path / "index.html").read_text() == "index.html"


@pytest.mark.parametrize("name", ["bots", "bots/ada.html", "index.html", MARK])
def test_a_mark_of_a_stranger_and_links_lead_to_no_file_of_the_user(tmp_path: Path, name: str) -> None:
    """A clone may hold a mark, and links instead of files and folders."""
    home, site = tmp_path / "home", tmp_path / "site"
    written(site, "index.html", "bots/ada.html")
    home.mkdir()
    for file in ("ada.html", "index.html", "mark"):
        shutil.copy(site / ("bots/ada.html" if file == "ada.html" else MARK if file == "mark" else file), home / file)
    shutil.rmtree(site / name) if name == "bots" else (site / name).unlink()
    before = {path.name: path.read_bytes() for path in home.iterdir()}
    (site / name).symlink_to(home if name == "bots" else home / {MARK: "mark"}.get(name, Path(name).name))
    for names in (("index.html", "bots/ada.html"), ()):
        with pytest.raises((UsageError, RunError)) if names or name == MARK else nullcontext():
            written(site, *names)
    assert before == {path.name: path.read_bytes() for path in home.iterdir()}
