"""Maps: where they are found, and which files are refused (aiarena21.md, section 2). See also test_cli.py."""

from pathlib import Path

import pytest

from referee.harness.common import maps
from referee.harness.common.errors import UsageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_empty_file_has_no_rows_and_is_not_taken_for_the_default_map() -> None:
    Path("mine.txt").write_bytes(b"")
    with pytest.raises(UsageError, match=r"^--map mine\.txt: the file is empty; expected a map of \w+$"):
        maps.read("aiarena21", "mine.txt")


def test_line_ends_of_other_systems_are_accepted() -> None:
    Path("mine.txt").write_bytes(b"S..S\r\n....\r\n\r\n")
    assert maps.read("aiarena21", "mine.txt") == "S..S\n....\n\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [("latin.txt", "'utf-8' codec can't decode byte 0xe9 in position 0"), ("x" * 300, "File name too long")],
)
def test_an_unreadable_map_is_an_error_of_one_line(name: str, words: str) -> None:
    Path("latin.txt").write_bytes(b"\xe9...\n")
    with pytest.raises(UsageError) as error:
        maps.read("aiarena21", name)
    assert str(error.value).startswith(f"--map {name}: ")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
