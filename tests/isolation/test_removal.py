"""Removes everything that a bot has made of its scratch folder."""

import os
from pathlib import Path

import pytest

from referee.harness.isolation.removal import remove


def test_a_folder_with_links_pipes_odd_names_and_closed_folders_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("no bot's")
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"\xff\n\x1b[31m")).write_text("")
    closed = folder / "closed"
    (closed / "inside" / "more").mkdir(parents=True)
    (closed / "inside" / "file").write_text("")
    for path in (closed / "inside", closed, folder):
        path.chmod(0)
    remove(folder)
    assert list(tmp_path.iterdir()) == [kept]
    link = tmp_path / "to the folder of others"
    link.symlink_to(tmp_path)
    for _ in range(2):  # the second time, nothing is there
        remove(link)
    assert list(tmp_path.iterdir()) == [kept]


@pytest.mark.slow
def test_nested_folders_are_removed_at_any_depth(tmp_path: Path) -> None:
    """Their path is longer than any path may be, and their depth exceeds Python's stack."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    inside = os.open(folder, os.O_RDONLY)
    for _ in range(2100):
        os.mkdir("d", dir_fd=inside)
        deeper = os.open("d", os.O_RDONLY, dir_fd=inside)
        os.close(inside)
        inside = deeper
    os.close(inside)
    remove(folder)
    assert not folder.exists()
