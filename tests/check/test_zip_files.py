"""Zip files of bots: what is unpacked, and what is refused."""

import os
import stat
import zipfile
from pathlib import Path

import pytest

from referee.harness.common.errors import UsageError
from referee.harness.programs.zip_archive import unpack

UNIX, DOS = 3, 0


def archived(path: Path, *members: tuple[str, str, int], system: int = UNIX) -> Path:
    """A zip file of members (name, content, mode)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.filename, info.create_system = name, system
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(info, content)
    return path


PLAIN, PROGRAM = stat.S_IFREG | 0o644, stat.S_IFREG | 0o4755


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([("../evil", "", PLAIN)], "'../evil' leads outside"),
        ([("a/../../evil", "", PLAIN)], "leads outside"),
        ([("/etc/evil", "", PLAIN)], "'/etc/evil' leads outside"),
        ([("C:\\evil", "", PLAIN)], "leads outside"),
        ([("passwd", "/etc/passwd", stat.S_IFLNK | 0o777)], "'passwd' is a link"),
        ([("pipe", "", stat.S_IFIFO | 0o644)], "'pipe' is neither a file nor a folder"),
        ([("disk", "", stat.S_IFBLK | 0o644)], "'disk' is neither a file nor a folder"),
        ([("a", "1", PLAIN), ("./a", "2", PLAIN)], "'./a' occurs twice"),
        ([("a", "1", PLAIN), ("a/b", "2", PLAIN)], "'a' is both a file and a folder"),
        ([("a/b/c", "1", PLAIN), ("a/b", "2", PLAIN)], "'a/b' is both a file and a folder"),
        ([("mine\\bot.toml", "", PLAIN)], "'mine\\\\bot.toml' has a backslash; zip files separate folders with /"),
        ([("x" * 300, "", PLAIN)], "has a name of more than 255 bytes"),
        ([(f"{n}", "", PLAIN) for n in range(21)], "holds 21 files; expected at most 20"),
        ([(f"{n}/a/b/c/d/e", "", PLAIN) for n in range(5)], "holds more than 20 folders"),
        ([("zeros", "0" * 10_001, PLAIN)], "unpacks to 10,001 bytes; expected at most 10,000"),
    ],
)
def test_a_harmful_zip_file_is_refused(tmp_path: Path, members: list[tuple[str, str, int]], words: str) -> None:
    archive, folder = archived(tmp_path / "bot.zip", *members), tmp_path / "inside"
    folder.mkdir()
    with pytest.raises(UsageError) as refusal:
        unpack(archive, folder, max_bytes=10_000, max_files=20)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert {path.name for path in tmp_path.iterdir()} == {"bot.zip", "inside"}


def test_a_zip_file_at_the_limits_is_unpacked(tmp_path: Path) -> None:
    members = [(f"{n}", "0" * 500, PROGRAM if n == 0 else PLAIN) for n in range(20)]
    archive, folder = archived(tmp_path / "bot.zip", *members), tmp_path / "inside"
    folder.mkdir()
    assert unpack(archive, folder, max_bytes=10_000, max_files=20) == folder
    assert len(list(folder.iterdir())) == 20
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("0", "1")] == [0o755, 0o644]  # no set-uid


@pytest.mark.parametrize("mode", [0, PLAIN], ids=["no mode", "the mode of Python's zipfile"])
def test_a_zip_file_from_windows_keeps_folders_and_programs(tmp_path: Path, mode: int) -> None:
    """Windows knows no executable bit, and some of its programs separate folders with a backslash."""
    contents = {"bot\\run": "#!/bin/sh", "bot\\lib\\engine": "\x7fELF", "bot\\bot.toml": "", "bot\\lib\\a.py": "#"}
    members = [(name, content, mode) for name, content in contents.items()]
    archive, folder = archived(tmp_path / "bot.zip", *members, system=DOS), tmp_path / "inside"
    folder.mkdir()
    bot = unpack(archive, folder)
    assert bot == folder
    programs = {path.relative_to(bot).as_posix() for path in bot.rglob("*") if path.is_file() and os.access(path, 1)}
    assert programs == {"run", "lib/engine"}


@pytest.mark.parametrize("name", ["..\\evil", "a\\..\\..\\evil", "\\etc\\evil", "C:\\evil", "\\\\host\\evil"])
def test_a_zip_file_from_windows_writes_nothing_outside(tmp_path: Path, name: str) -> None:
    archive, folder = archived(tmp_path / "bot.zip", (name, "", 0), system=DOS), tmp_path / "inside"
    folder.mkdir()
    with pytest.raises(UsageError, match="leads outside"):
        unpack(archive, folder)
    assert {path.name for path in tmp_path.iterdir()} == {"bot.zip", "inside"}


def test_a_zip_file_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    archive, folder = archived(tmp_path / "bot.zip", ("zeros", "0" * 50_000, PLAIN)), tmp_path / "inside"
    folder.mkdir()
    content = archive.read_bytes().replace((50_000).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    archive.write_bytes(content)
    with pytest.raises(UsageError, match=r"cannot be unpacked|more than its list of contents says"):
        unpack(archive, folder, max_bytes=10_000, max_files=20)
